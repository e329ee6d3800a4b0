// npm run test:kube: a real kube-apiserver in front of server and agents, in a network namespace that has only
// loopback. Prints what it skips where something that it needs is missing.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkGroups } from './check-groups.ts';
import { modes } from './settings.ts';

const missing = [
  ...['KUBE_APISERVER', 'ETCD', 'KUBECTL'].flatMap((name) => {
    const path = process.env[name];
    if (path === undefined || path === '') return [`$${name} names no program`];
    return isProgram(path) ? [] : [`$${name}=${path} is no program`];
  }),
  ...(process.getuid?.() === 0 ? [] : ['root, for a network namespace']),
  ...['go', 'unshare', 'ip'].filter((name) => !isOnPath(name)).map((name) => `${name} is not on PATH`),
];
if (missing.length > 0) {
  console.log(`test:kube is skipped: ${missing.join('; ')}`);
  console.log(`not checked, in the modes ${modes.join(', ')}:`);
  for (const name of Object.keys(checkGroups)) console.log(`  ${name}`);
} else process.exitCode = await run();

async function run(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'kts-kube-'));
  try {
    const fakeKubelet = join(directory, 'fakekubelet');
    const built = spawnSync('go', ['build', '-o', fakeKubelet, '.'], {
      cwd: 'test/kube/fakekubelet',
      stdio: 'inherit',
    });
    if (built.status !== 0) return 1;
    // With unshare everything in there ends, and with a signal that ends this process, unshare.
    const namespace = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--'];
    const suite = [process.execPath, '--import', 'tsx', '--test-reporter=spec', 'test/kube/suite.ts'];
    const env = { ...process.env, FAKE_KUBELET: fakeKubelet, KUBE_DIRECTORY: directory };
    const child = spawn('unshare', [...namespace, ...suite], { stdio: 'inherit', env });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => child.kill('SIGKILL'));
    return await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  } finally {
    if (process.env.KUBE_KEEP !== '1') rmSync(directory, { recursive: true, force: true });
    else console.log(`logs are kept in ${directory}`);
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isOnPath(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => isProgram(join(folder, name)));
}
