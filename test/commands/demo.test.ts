import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { promisify } from 'node:util';

const PROGRAM = ['bin/konnectivity-ts.js', 'demo'];

describe('demo', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'kts-demo-'));
  const env = { ...process.env, TMPDIR: temporary };
  const left = (): string[] => readdirSync(temporary);
  const running = new Set<ChildProcess>();
  // What a test that failed leaves would disturb the others.
  afterEach(async () => {
    for (const child of running) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGINT');
        await once(child, 'exit');
      }
    }
    running.clear();
  });
  after(() => rmSync(temporary, { recursive: true, force: true }));

  interface Running {
    readonly child: ChildProcess;
    readonly text: string;
    readonly agents: readonly { pid: number; healthPort: number }[];
  }

  /** Starts the demo and resolves when it has printed what runs. */
  async function start(): Promise<Running> {
    const child = spawn(process.execPath, PROGRAM, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    running.add(child);
    let text = '';
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (text.includes('Ctrl-C ends everything')) break;
    }
    child.stdout.resume();
    const agents = [...text.matchAll(/agent .* pid (\d+), .*127\.0\.0\.1:(\d+)$/gm)].map((match) => ({
      pid: Number(match[1]),
      healthPort: Number(match[2]),
    }));
    assert.equal(agents.length, 3);
    return { child, text, agents };
  }

  const alive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('--once sends a request through each agent, and leaves nothing', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...PROGRAM, '--once'], { env });
    const rows = stdout.trim().split('\n').slice(1);
    assert.deepEqual(
      rows.map((row) => [row.split(/\s+/)[0], / 200 /.test(row)]),
      ['demo-a', 'demo-a', 'demo-b', 'demo-b', 'demo-c', 'demo-c'].map((id) => [id, true]),
    );
    assert.deepEqual(left(), []);
  });

  for (const [what, directory, refusal] of [
    [
      'is missing',
      join(temporary, 'missing'),
      /the temporary directory .*missing cannot be used: ENOENT; set TMPDIR/,
    ],
    ['has a path too long for a socket', `/${'t'.repeat(90)}`, /with TMPDIR as it is, .* has room for 107/],
  ] as const) {
    it(`says in one line that the temporary directory ${what}`, async () => {
      const child = spawn(process.execPath, [...PROGRAM, '--once'], {
        env: { ...env, TMPDIR: directory },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      for await (const chunk of child.stderr) said += String(chunk);
      const code = child.exitCode ?? (await once(child, 'exit'))[0];
      assert.equal(code, 1);
      assert.match(said, refusal);
      assert.equal(said.trimEnd().split('\n').length, 1);
    });
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`ends everything on ${signal}`, async () => {
      const { child, agents } = await start();
      assert.equal(left().length, 1);
      child.kill(signal);
      const [code] = await once(child, 'exit');
      assert.equal(code, 0);
      assert.deepEqual(
        agents.filter(({ pid }) => alive(pid)),
        [],
      );
      assert.deepEqual(left(), []);
    });
  }

  it('leaves no agent behind when it is killed', async () => {
    const { child, agents } = await start();
    const sockets = agents.map(({ healthPort }) => connect(healthPort, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    // A connection to an agent ends no earlier than the agent.
    const gone = sockets.map((socket) => once(socket.on('error', () => {}).resume(), 'close'));
    child.kill('SIGKILL');
    await Promise.all(gone);
    // Nobody was left to remove the files.
    for (const name of left()) rmSync(join(temporary, name), { recursive: true });
  });

  it('prints commands that work', async () => {
    const { child, text } = await start();
    const lines = text.split('\n').map((line) => line.trim());
    const run = async (wanted: RegExp): Promise<string> => {
      const line = lines.find((candidate) => wanted.test(candidate));
      assert.ok(line !== undefined, String(wanted));
      return (await promisify(execFile)('sh', ['-c', line])).stdout;
    };
    assert.match(await run(/konnectivity-ts dial/), /^HTTP\/1\.1 200 OK\r\n[\s\S]*through the tunnel/);
    assert.match(await run(/readyz/), /ok/);
    if (existsSync('/usr/bin/curl')) assert.match(await run(/--proxytunnel.*\/$/), /through the tunnel/);
    assert.match(await run(/konnectivity-ts agents/), /^demo-a +ready .*\n[\s\S]*^demo-c +ready /m);
    assert.match(await run(/konnectivity-ts select/), /demo-a/);
    await run(/konnectivity-ts drain/);
    assert.match(await run(/konnectivity-ts agents/), /^demo-a +drained /m);
    await run(/konnectivity-ts undrain/);
    assert.match(await run(/konnectivity-ts top/), /ready +demo-a /);
    child.kill('SIGINT');
    await once(child, 'exit');
  });

  it('has its admin socket where no command looks by itself', async () => {
    const { child, text } = await start();
    const path = /--admin unix:\/\/(\S+)$/m.exec(text)?.[1] ?? '';
    assert.equal(join(temporary, left()[0] ?? '', 'admin.sock'), path);
    assert.deepEqual(
      left().filter((name) => /^konnectivity-ts-\d/.test(name)),
      [],
    );
    child.kill('SIGINT');
    await once(child, 'exit');
    assert.deepEqual(left(), []);
  });

  it('--story drain tells of a drain under which nothing is lost', async () => {
    const args = [...PROGRAM, '--story', 'drain', '--seconds', '8'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    assert.match(stdout, /each as it was sent/);
    assert.match(stdout, /with exit code 0/);
    assert.deepEqual(left(), []);
  });
});
