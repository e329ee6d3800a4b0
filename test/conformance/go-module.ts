import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODULE = 'test/conformance';
const LINE = /^--- (PASS|FAIL|SKIP): (\S+)/;

// As in conformance:fetch, whose compiled packages are then used; but a test fetches neither modules nor a toolchain.
const env = {
  ...process.env,
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
  GOFLAGS: '-mod=readonly',
  CGO_ENABLED: '0',
};

/** Compiles the Go tests into `directory`. @returns the program, or why there is none on this machine */
export async function buildGoTests(directory: string): Promise<{ program: string } | { missing: string }> {
  const go = (args: string[]) => promisify(execFile)('go', args, { cwd: MODULE, env });
  try {
    await go(['list', '-deps', '-test', '.']);
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === 'ENOENT') return { missing: 'go is not on PATH' };
    const first = stderr.split('\n').find((line) => !/^(go: downloading|$)/.test(line)) ?? String(error);
    return {
      missing: `its modules are not in the cache of go; npm run conformance:fetch fills it (${first})`,
    };
  }
  const program = join(directory, 'conformance.test');
  await go(['test', '-c', '-vet=off', '-ldflags=-s -w', '-o', program, '.']);
  return { program };
}

/** What the Go tests said. */
export interface GoRun {
  readonly results: ReadonlyMap<string, 'PASS' | 'FAIL' | 'SKIP'>;
  readonly exitCode: number | null;
  readonly output: string;
}

/** Runs the program with `scene` as what it reads of its surroundings. */
export async function runGoTests(program: string, scene: object): Promise<GoRun> {
  const child = spawn(program, ['-test.v', '-test.timeout=90s'], {
    env: { ...process.env, CONFORMANCE: JSON.stringify(scene) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const results = new Map<string, 'PASS' | 'FAIL' | 'SKIP'>();
  for (const line of output.split('\n')) {
    const [, result, name] = LINE.exec(line) ?? [];
    if (name !== undefined) results.set(name, result as 'PASS');
  }
  return { results, exitCode, output };
}
