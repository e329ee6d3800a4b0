import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ownCommand } from '../../src/commands/demo/guide.ts';

const PROGRAM = [resolve('bin/konnectivity-ts.js'), 'demo'];

describe('demo', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'kts-demo-'));
  const env = { ...process.env, TMPDIR: temporary };
  const left = (): string[] => readdirSync(temporary);
  const running = new Set<ChildProcess>();
  const ofStory = mkdtempSync(join(tmpdir(), 'kts-story-'));
  let story: Promise<{ stdout: string }>;
  // It takes its time, most of it waiting: meanwhile the others run.
  before(() => {
    const args = [...PROGRAM, '--story', 'drain', '--seconds', '8'];
    story = promisify(execFile)(process.execPath, args, { env: { ...env, TMPDIR: ofStory } });
    story.catch(() => {});
  });
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
  after(() => {
    for (const directory of [temporary, ofStory]) rmSync(directory, { recursive: true, force: true });
  });

  interface Running {
    readonly child: ChildProcess;
    readonly text: string;
    readonly agents: readonly { pid: number; healthPort: number }[];
  }

  /** Starts the demo and resolves when it has printed what runs. */
  async function start(): Promise<Running> {
    // From elsewhere than its checkout, in which npx would be what it prints: that takes seconds for each command.
    const child = spawn(process.execPath, PROGRAM, { env, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
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

  async function endsEverything({ child, agents }: Running, signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
    assert.equal(left().length, 1);
    child.kill(signal);
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
    assert.deepEqual(
      agents.filter(({ pid }) => alive(pid)),
      [],
    );
    assert.deepEqual(left(), []);
  }

  it('ends everything on SIGTERM', async () => endsEverything(await start(), 'SIGTERM'));

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

  it('prints commands that work, asks for its own admin socket alone, and ends everything on SIGINT', async () => {
    const demo = await start();
    const { text } = demo;
    const lines = text.split('\n').map((line) => line.trim());
    const run = async (wanted: RegExp): Promise<string> => {
      const line = lines.find((candidate) => wanted.test(candidate));
      assert.ok(line !== undefined, String(wanted));
      return (await promisify(execFile)('sh', ['-c', line])).stdout;
    };
    const ours = (words: string): RegExp => new RegExp(`konnectivity-ts\\.js ${words} `);
    const all = await Promise.all([
      run(ours('dial')),
      run(/readyz/),
      existsSync('/usr/bin/curl') ? run(/--proxytunnel.*\/$/) : 'through the tunnel',
      run(ours('agents')),
      run(ours('select')),
    ]);
    for (const [i, wanted] of [
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*through the tunnel/,
      /ok/,
      /through the tunnel/,
      /^demo-a +ready .*\n[\s\S]*^demo-c +ready /m,
      /demo-a/,
    ].entries()) {
      assert.match(all[i] ?? '', wanted);
    }
    await run(ours('drain'));
    assert.match(await run(ours('agents')), /^demo-a +drained /m);
    await run(ours('undrain'));
    assert.match(await run(ours('top')), /ready +demo-a /);
    // Where no command looks by itself.
    const path = /--admin unix:\/\/(\S+)$/m.exec(text)?.[1] ?? '';
    assert.equal(join(temporary, left()[0] ?? '', 'admin.sock'), path);
    await endsEverything(demo, 'SIGINT');
  });

  it('calls itself npx konnectivity-ts in its checkout, and by its path elsewhere', () => {
    assert.equal(ownCommand(process.cwd(), '/x/bin/konnectivity-ts.js'), 'npx konnectivity-ts');
    assert.equal(ownCommand('/', "/it's/konnectivity-ts.js"), "node '/it'\\''s/konnectivity-ts.js'");
  });

  it('--story drain tells of a drain under which nothing is lost', async () => {
    const { stdout } = await story;
    assert.match(stdout, /each as it was sent/);
    assert.match(
      stdout,
      /konnectivity-ts drain demo-b\n[\s\S]*demo-b is drained, safe to stop[\s\S]*with exit code 0/,
    );
    assert.deepEqual(readdirSync(ofStory), []);
  });
});
