import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { FakeFleet } from '../peers/fake-fleet.ts';
import { FleetServices } from './fleet-services.ts';
import { TopTerminal, type TopTerminalOptions } from './top-terminal.ts';

describe('top in a terminal', () => {
  const fleet = new FakeFleet('cp-1');
  let services: FleetServices;
  const terminals: TopTerminal[] = [];
  const opened = (terminal: TopTerminal): TopTerminal => {
    terminals.push(terminal);
    return terminal;
  };

  before(async () => {
    for (const id of ['node-a', 'node-b', 'node-c']) fleet.agent(id);
    fleet.tunnel('node-b');
    services = await FleetServices.start(fleet);
  });
  after(async () => {
    for (const terminal of terminals) await terminal.close();
    services.close();
  });

  async function start(options: TopTerminalOptions = {}, ...args: string[]): Promise<TopTerminal> {
    const terminal = opened(new TopTerminal(['top', '--admin', services.addresses, ...args], options));
    await terminal.shows(/node-a[\s\S]*q quit/);
    assert.ok(terminal.screen.alternate);
    assert.ok(terminal.screen.bracketedPaste);
    return terminal;
  }

  function assertRestored({ screen }: TopTerminal): void {
    assert.ok(!screen.alternate, 'the alternate screen was left');
    assert.ok(!screen.bracketedPaste, 'pastes are no longer marked');
    assert.ok(screen.cursorShown, 'the cursor is back');
  }

  for (const [how, leave, code] of [
    ['Ctrl-C', (top: TopTerminal) => top.press('<ctrl-c>'), 0],
    ['SIGTERM', async (top: TopTerminal) => top.kill('SIGTERM'), 130],
    ['SIGHUP', async (top: TopTerminal) => top.kill('SIGHUP'), 129],
  ] as const) {
    it(`gives it back after ${how}`, async () => {
      const top = await start();
      await leave(top);
      assert.equal(await top.exited, code);
      assertRestored(top);
      assert.equal(top.screen.text.trim(), '');
    });
  }

  it('gives it back when it crashes, and says why after that', async () => {
    const top = await start({ env: { NODE_OPTIONS: `--import=${crashOnSignal()}` } });
    top.kill('SIGUSR2');
    assert.equal(await top.exited, 1);
    assertRestored(top);
    assert.match(top.screen.text, /Error: made to fail/);
  });

  it('returns from a stop with its screen', async () => {
    const shell = ['bash', '--norc', '-i'];
    const terminal = opened(new TopTerminal([], { command: shell, env: { PS1: 'shell> ' } }));
    await terminal.shows(/shell>/);
    const program = `${process.execPath} bin/konnectivity-ts.js top --admin ${services.addresses}`;
    terminal.send(`${program}\r`);
    await terminal.shows(/node-a[\s\S]*q quit/);
    await terminal.press('<ctrl-z>');
    // The shell marks pastes for itself.
    await terminal.shows(/Stopped/);
    assert.ok(!terminal.screen.alternate);
    assert.ok(terminal.screen.cursorShown);
    terminal.send('fg\r');
    await terminal.shows(/node-a[\s\S]*q quit/);
    assert.ok(terminal.screen.alternate);
    await terminal.press('q');
    await terminal.shows(/shell>$/m);
    assert.ok(!terminal.screen.alternate);
    terminal.send('exit\r');
    await terminal.exited;
  });

  // One after the other on one screen: starting it is what takes time.
  describe('that stays open', () => {
    let top: TopTerminal;
    before(async () => {
      top = await start();
    });

    it('follows its size, also under a dialog', async () => {
      await top.press('d');
      await top.shows(/Drain node-a .*\?/);
      top.resize(44, 20);
      await top.shows(/Drain node-a[\s\S]*\[ Cancel \]/);
      assert.equal(top.screen.lines.length, 20);
      top.resize(140, 40);
      await top.shows(/RTT[\s\S]*Drain node-a[\s\S]*\[ Cancel \]/);
      await top.press('<escape>');
      await top.shows(/q quit$/);
    });

    it('does nothing with a pasted "daily" and Enter', async () => {
      const asked = fleet.first.asked('drain').length;
      top.send('\u001b[200~daily\r\u001b[201~');
      await top.press('j');
      await top.shows(/> . ready +node-b/);
      assert.doesNotMatch(top.screen.text, /Drain/);
      // Unmarked, it opens the dialog, and that is all.
      top.send('daily\r');
      await top.shows(/Drain node-b/);
      await top.press('<escape>');
      await top.shows(/q quit$/);
      const drains = fleet.first.asked<{ validateOnly?: boolean }>('drain').slice(asked);
      assert.ok(drains.every(({ validateOnly }) => validateOnly));
    });

    it('loses a server, keeps its picture, and finds it again', async () => {
      services.kill('cp-1');
      const lost = await top.shows(/stale \d+s, retrying/);
      assert.match(lost, /node-b/);
      fleet.agent('node-d');
      fleet.first.epoch = 'epoch-2';
      await services.open('cp-1');
      await top.shows(/ live[\s\S]*node-d/);
    });

    it('gives it back after q', async () => {
      await top.press('q');
      assert.equal(await top.exited, 0);
      assertRestored(top);
      assert.equal(top.screen.text.trim(), '');
    });
  });

  describe('without one', () => {
    const args = (): string[] => ['bin/konnectivity-ts.js', 'top', '--admin', services.addresses];

    it('prints one picture into a pipe', async () => {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args());
      assert.match(stdout, /node-b/);
      assert.doesNotMatch(stdout, /\u001b/);
      assert.equal(stderr, '');
    });

    for (const [how, more, env] of [
      ['--once', ['--once'], {}],
      ['TERM=dumb', [], { TERM: 'dumb' }],
      ['-o json', ['-o', 'json'], {}],
    ] as const) {
      it(`prints one picture with ${how}`, async () => {
        const command = [
          'env',
          ...Object.entries(env).map((one) => one.join('=')),
          process.execPath,
          ...args(),
          ...more,
        ];
        const terminal = opened(new TopTerminal([], { command, rows: 200 }));
        assert.equal(await terminal.exited, 0);
        assert.match(terminal.screen.text, /node-b/);
        assert.ok(!terminal.screen.alternate);
      });
    }

    it('says in one line that nobody answers, and exits 5', async () => {
      const terminal = opened(new TopTerminal(['top', '--admin', 'unix:///nowhere/admin.sock']));
      assert.equal(await terminal.exited, 5);
      assert.match(terminal.screen.text, /^konnectivity-ts: the admin service cannot be reached/);
      assert.ok(!terminal.screen.alternate);
    });
  });
});

/** A module that throws, as a bug would, at SIGUSR2. */
function crashOnSignal(): string {
  const source = "process.on('SIGUSR2', () => { throw new Error('made to fail'); });";
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
