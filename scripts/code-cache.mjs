// Writes what V8 compiled of dist/operator.cjs and dist/daemon.cjs beside them, so that bin/ need not compile it at each
// start: of the one for `agents`, of the other for a server's start. V8 refuses a cache of another version or with
// other flags; then it compiles as ever.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The bytes of a gRPC message in which every field has its default. */
const EMPTY_MESSAGE = Buffer.alloc(5);
/** A command that has not come so far by then is no use. */
const PATIENCE_MS = 20_000;

/** @param dist the folder of the bundles. Never throws: without the files a start only takes longer. */
export async function writeCodeCaches(dist) {
  const directory = mkdtempSync(join(tmpdir(), 'konnectivity-ts-build-'));
  try {
    await cacheOperator(dist, directory);
    await cacheDaemon(dist, directory);
  } catch (error) {
    console.warn(`no code cache: ${error.message}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function cacheOperator(dist, directory) {
  const server = createServer().on('stream', (stream) => {
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
    stream.end(EMPTY_MESSAGE);
  });
  try {
    const path = join(directory, 'admin.sock');
    await once(server.listen(path), 'listening');
    await once(start(join(dist, 'operator.cjs'), ['agents', '--admin', `unix://${path}`]), 'exit');
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

function start(bundle, args) {
  const writer = fileURLToPath(new URL('write-code-cache.cjs', import.meta.url));
  return spawn(process.execPath, [writer, bundle, ...args], {
    stdio: 'ignore',
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
}
