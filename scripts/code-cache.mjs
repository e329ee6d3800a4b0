// Writes what V8 compiled of the bundles of one file beside them, so that bin/ need not compile it at each start: for
// `agents`, for `top` until its screen is whole, and for a server's start. V8 refuses a cache of another version or with
// other flags; then it compiles as ever.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { STUB_AGENT, StubServer } from './stub-admin.mjs';

/** A command that has not come so far by then is no use. */
const PATIENCE_MS = 20_000;

/** @param dist the folder of the bundles. Never throws: without the files a start only takes longer. */
export async function writeCodeCaches(dist) {
  const directory = mkdtempSync(join(tmpdir(), 'konnectivity-ts-build-'));
  try {
    await Promise.all([
      cacheOperator(dist, directory),
      cacheScreen(dist, directory),
      cacheDaemon(dist, directory),
    ]);
  } catch (error) {
    console.warn(`no code cache: ${error.message}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function cacheOperator(dist, directory) {
  const server = new StubServer(join(directory, 'admin.sock'));
  try {
    await server.listening;
    await once(start(join(dist, 'operator.cjs'), ['agents', '--admin', server.address]), 'exit');
  } finally {
    server.close();
  }
}

/** Without a terminal: `write-code-cache.cjs` makes the pipes look like one. */
async function cacheScreen(dist, directory) {
  const server = new StubServer(join(directory, 'screen.sock'));
  try {
    await server.listening;
    const child = start(join(dist, 'screen.cjs'), ['top', '--admin', server.address], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', NO_COLOR: '', SCREEN: '120x40' },
    });
    let written = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      written += text;
      if (written.includes(STUB_AGENT) && written.includes('quit')) child.stdin.end();
    });
    await once(child, 'exit');
  } finally {
    server.close();
  }
}

/** A certificate that is not there is seen when everything is loaded, and before anything listens. */
async function cacheDaemon(dist, directory) {
  const missing = join(directory, 'missing.pem');
  const files = [`--cluster-cert=${missing}`, `--cluster-key=${missing}`];
  const args = ['serve', `--uds-name=${join(directory, 'frontend.sock')}`, '--server-port=0', ...files];
  await once(start(join(dist, 'daemon.cjs'), args), 'exit');
}

function start(bundle, args, options = { stdio: 'ignore' }) {
  const writer = fileURLToPath(new URL('write-code-cache.cjs', import.meta.url));
  return spawn(process.execPath, [writer, bundle, ...args], {
    ...options,
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
}
