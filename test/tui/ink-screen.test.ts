import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ASCII } from '../../src/tui/badge.ts';
import { InkScreen } from '../../src/tui/paint/ink-screen.tsx';
import { Surface } from '../../src/tui/paint/surface.ts';
import { reduce } from '../../src/tui/state/reduce.ts';
import type { TopState } from '../../src/tui/state/top-state.ts';
import { adminAgent } from '../peers/admin-agent.ts';
import { EmulatedTerminal } from './emulated-terminal.ts';
import { mixedFleet, screenOf, typed } from './fleet.ts';

describe('the screen in a terminal', () => {
  interface Shown {
    readonly terminal: EmulatedTerminal;
    readonly written: string[];
    show(state: TopState): Promise<void>;
  }

  async function shown(state: TopState, level: 0 | 1 = 1): Promise<Shown> {
    const terminal = new EmulatedTerminal(state.columns, state.rows);
    const written: string[] = [];
    const surface = new Surface((text) => void written.push(text), state.rows);
    surface.open();
    const screen = new InkScreen(surface, level);
    let { columns } = state;
    let at = 0;
    const show = async (next: TopState): Promise<void> => {
      if (next.columns !== columns || next.rows !== surface.rows) {
        columns = next.columns;
        terminal.resize(next.columns, next.rows);
        surface.resize(next.rows);
      }
      screen.show(next);
      for (; at < written.length; at++) await terminal.write(written[at] ?? '');
    };
    await show(state);
    return { terminal, written, show };
  }

  for (const [columns, rows] of [
    [40, 8],
    [80, 24],
    [120, 40],
    [300, 100],
  ] as const) {
    it(`fills ${columns}x${rows} with the keys on the last line`, async () => {
      const { terminal } = await shown(screenOf(mixedFleet(), { columns, rows }));
      assert.match(terminal.lines[1] ?? '', /3 ready {2}2 draining {2}1 drained/);
      assert.match(terminal.lines[3] ?? '', / > ◐ .*overdue/);
      assert.match(terminal.lines[rows - 1] ?? '', /\? help {2}q quit$/);
    });
  }

  it('writes only the lines that changed', async () => {
    const state = screenOf();
    const { written, show } = await shown(state);
    await show(typed(state, 'j'));
    const [, second = ''] = written;
    const rows = [...second.matchAll(/\u001b\[(\d+);1H/g)].map((match) => Number(match[1]));
    // Two rows of the table and the story of the one under the cursor.
    assert.deepEqual(rows, [4, 5, 39]);
  });

  it('is whole again after every change of size', async () => {
    let state = screenOf();
    const { terminal, show } = await shown(state);
    for (const [columns, rows] of [
      [60, 20],
      [200, 12],
      [30, 5],
      [100, 30],
    ] as const) {
      state = reduce(state, { type: 'resized', columns, rows });
      await show(state);
      assert.equal(terminal.lines.length, rows);
      if (columns >= 40) assert.match(terminal.lines[rows - 1] ?? '', /q quit$/);
      else assert.match(terminal.lines[0] ?? '', /^3 ready 2 draining/);
    }
  });

  it('keeps the columns in place whatever an ID holds', async () => {
    const ids = [
      '日本のノード',
      'emoji-👩‍👩‍👧-🚀',
      'שלום-עולם',
      'tab\there\u001b[2J',
      'plain',
      'n\u0303-combined',
    ];
    const agents = ids.map((id) => adminAgent(id, { identifiers: [], tunnels: 7, roundTripSeconds: 0.005 }));
    const { terminal } = await shown(screenOf(agents, { columns: 140, rows: 12 }));
    const columns = ids.map((_, i) => ['1/1', ' 7 ', '5.0ms'].map((text) => terminal.columnOf(3 + i, text)));
    assert.ok(columns[0]?.every((column) => column > 0));
    for (const row of columns) assert.deepEqual(row, columns[0]);
    assert.ok(terminal.text.includes('\\u{1b}[2J'));
  });

  it('tells states without colour and without Unicode', async () => {
    const { terminal, written } = await shown(screenOf(mixedFleet(), { glyphs: ASCII }), 0);
    for (const badge of [
      '~ DRAINING overdue',
      'x late',
      '* ready slow',
      '~ DRAINING ',
      'o drained',
      '* ready ',
    ]) {
      assert.ok(terminal.text.includes(badge), badge);
    }
    assert.match(written.join(''), /^[\u0000-\u007f]*$/);
    // The row under the cursor is reversed, besides its mark; nothing else is styled.
    assert.deepEqual(new Set(written.join('').match(/\u001b\[\d+m/g)), new Set(['\u001b[0m']));
  });

  it('dims the last picture while no server answers', async () => {
    const state = screenOf();
    const [server] = state.servers;
    assert.ok(server);
    const { terminal, written, show } = await shown(state);
    const link = {
      kind: 'lost' as const,
      sinceMs: state.nowMs - 7_000,
      reason: 'gone',
      retryAtMs: state.nowMs + 2_000,
    };
    const servers = [{ ...server, link }];
    await show(reduce(state, { type: 'fleet', nowMs: state.nowMs, servers, everything: state.everything }));
    assert.match(terminal.lines[0] ?? '', /stale 7s, retrying in 2s$/);
    assert.match(terminal.text, /node-b-2231/);
    assert.ok((written.at(-1) ?? '').includes('\u001b[2m'));
  });
});
