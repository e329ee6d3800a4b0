import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TopTerminal } from './top-terminal.ts';

/** One story in one terminal: each test begins where the one before it ended. */
describe('the demo in a terminal', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'kts-demo-tty-'));
  let demo: TopTerminal;
  let agents: number[];

  before(async () => {
    demo = new TopTerminal(['demo'], { columns: 120, rows: 60, env: { TMPDIR: temporary } });
    const text = await demo.shows(
      /Enter opens top, in which h shows these lines again\. Ctrl-C ends everything/,
    );
    agents = [...text.matchAll(/agent +demo-\w +pid (\d+)/g)].map((match) => Number(match[1]));
    assert.equal(agents.length, 3);
  });
  after(async () => {
    if (demo !== undefined && existsSync(`/proc/${demo.pid}`)) demo.kill('SIGTERM');
    await demo?.exited;
    rmSync(temporary, { recursive: true, force: true });
  });

  it('Enter opens top, with traffic to be seen', async () => {
    await demo.press('<enter>');
    await demo.shows(/ demo-server .* live \d+s$/m);
    assert.ok(demo.screen.alternate);
    await demo.shows(/ready +demo-a[\s\S]*ready +demo-b[\s\S]*ready +demo-c/);
    // A download for each, and what they bring.
    await demo.shows(/ 3 tunnels .* from \d+ kB\/s/);
    await demo.shows(/\d+ kB .*\n/);
    // Also of agents that are never silent.
    await demo.shows(/demo-a .*ms\n.*demo-b .*ms\n.*demo-c .*ms\n/);
  });

  it('h shows the lines again, and Enter returns', async () => {
    await demo.press('h');
    await demo.shows(/Enter opens top again; q and Enter, or Ctrl-C, end the demo/);
    assert.ok(!demo.screen.alternate, 'the alternate screen was left');
    assert.match(demo.screen.text, /What runs, all on 127\.0\.0\.1/);
    await demo.press('<enter>');
    await demo.shows(/ demo-server .* live[\s\S]*h lines/);
  });

  it('q asks, and Enter keeps it running', async () => {
    await demo.press('q');
    await demo.shows(/Stop the demo\? y and Enter stop it; Enter keeps it running/);
    assert.ok(!demo.screen.alternate, 'the alternate screen was left');
    assert.ok(demo.screen.cursorShown);
    await demo.press('<enter>');
    await demo.shows(/It runs on\. Enter opens top again/);
    for (const pid of agents) assert.ok(process.kill(pid, 0));
    await demo.press('<enter>');
    await demo.shows(/ demo-server .* live[\s\S]*ready +demo-a/);
  });

  it('q and y stop it, and nothing is left', async () => {
    await demo.press('q');
    await demo.shows(/Stop the demo\?[^?]*$/);
    await demo.press('y<enter>');
    assert.equal(await demo.exited, 0);
    assert.ok(!demo.screen.alternate);
    for (const pid of agents) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    assert.deepEqual(readdirSync(temporary), []);
  });
});
