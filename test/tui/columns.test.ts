import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ASCII, badgeOf, glyphsFor, UNICODE } from '../../src/tui/badge.ts';
import { columnsFor } from '../../src/tui/layout/agent-columns.ts';
import { lineWidth } from '../../src/tui/layout/clip.ts';
import { frame } from '../../src/tui/layout/frame.ts';
import { plainText, span } from '../../src/tui/layout/span.ts';
import { sparkline } from '../../src/tui/layout/sparkline.ts';
import { reduce } from '../../src/tui/state/reduce.ts';
import { adminAgent } from '../peers/admin-agent.ts';
import { mixedFleet, screenOf, tunnel, typed } from './fleet.ts';

describe('columns by width', () => {
  const names = (columns: number, idWidth = 14): string =>
    columnsFor(columns, idWidth)
      .map(({ name }) => name)
      .join(' ');

  it('are all there at 120', () => {
    assert.equal(names(120), 'state left agent servers serves tunnels pending dials to-node from-node rtt');
  });

  it('go in a fixed order, and state, left, agent and tunnels never do', () => {
    const gone = (from: number, to: number): string[] => {
      const lost: string[] = [];
      for (let width = from; width > to; width--) {
        const next = names(width - 1).split(' ');
        lost.push(
          ...names(width)
            .split(' ')
            .filter((name) => !next.includes(name)),
        );
      }
      return lost;
    };
    // Below 70, columns are narrower.
    assert.deepEqual(gone(120, 70), ['rtt', 'from-node', 'to-node', 'serves', 'pending', 'dials']);
    assert.deepEqual(gone(69, 40), ['pending', 'dials', 'servers']);
    assert.equal(names(40), 'state left agent tunnels');
  });

  it('are never wider than the screen', () => {
    for (let width = 40; width <= 300; width++) {
      for (const idWidth of [0, 22, 200]) {
        const total = columnsFor(width, idWidth).reduce((sum, column) => sum + column.width + 1, 2);
        assert.ok(total <= width, `${width}: ${total}`);
      }
    }
  });

  it('are the same ones however long IDs are, which get the room that is left and some of LEFT', () => {
    const widthOfAgent = (columns: number, idWidth: number): number =>
      columnsFor(columns, idWidth).find(({ name }) => name === 'agent')?.width ?? 0;
    for (let width = 40; width <= 300; width++) assert.equal(names(width, 60), names(width));
    assert.equal(widthOfAgent(120, 14), 14);
    assert.equal(widthOfAgent(120, 60), 18);
    assert.ok(widthOfAgent(150, 40) >= 40);
  });

  it('longer IDs lose their middle, wide letters whole, and the round trip stays at 120', () => {
    const ids = ['ip-10-0-1-18.eu-west-1.compute.internal', '日本のとても長いノードの名前', 'n'.repeat(200)];
    const agents = ids.map((id) => adminAgent(id, { roundTripSeconds: 0.005 }));
    const lines = frame(screenOf(agents, { columns: 120, rows: 24 })).map(plainText);
    for (const [i, shown] of ['ip-10-0-1…internal', 'n'.repeat(9), '日本のと…ドの名前'].entries()) {
      const row = lines[3 + i] ?? '';
      assert.ok(row.includes(shown), row);
      assert.match(row, / 5\.0ms$/);
      assert.equal(lineWidth({ spans: [span(row)] }), 120);
    }
  });
});

describe('every view at every size', () => {
  for (const keys of ['', '<enter>', 'T', 'A', 'E', 't10.0.0.1:22', '?', 'd', 'jjju', '/abc']) {
    it(`is as large as the screen after "${keys}"`, () => {
      for (const [columns, rows] of [
        [40, 8],
        [80, 24],
        [57, 13],
        [300, 100],
      ] as const) {
        const lines = frame(typed(screenOf(mixedFleet(), { columns, rows }), keys));
        assert.equal(lines.length, rows);
        for (const line of lines) assert.ok(lineWidth(line) <= columns, plainText(line));
      }
    });
  }

  for (const [columns, rows] of [
    [39, 24],
    [80, 7],
  ] as const) {
    it(`says at ${columns}x${rows} that it is too small, with the counts and how to leave`, () => {
      const lines = frame(screenOf(mixedFleet(), { columns, rows })).map(plainText);
      const text = '3 ready 2 draining 1 drained; too small, 40x8 at least; Ctrl-C quits';
      assert.equal(lines.join(' ').trim(), text);
      assert.equal(lines.length, rows);
    });
  }

  it('tells the story of the agent under the cursor at every width', () => {
    for (const columns of [40, 80, 120]) {
      const lines = frame(screenOf(mixedFleet(), { columns, rows: 24 })).map(plainText);
      assert.match(lines[22] ?? '', /^ node-d-01ff: past its deadline/);
    }
  });
});

describe('the tunnels of an agent', () => {
  for (const columns of [60, 72, 90, 100, 120]) {
    it(`have every column whole at ${columns}`, () => {
      const open = typed(screenOf(mixedFleet(), { columns, rows: 12 }), 'A');
      const value = { tunnels: [tunnel('t1', { bufferedBytes: 1_000_000, pausedSeconds: 12 })], total: 1 };
      const state = reduce(open, {
        type: 'tunnels',
        agent: undefined,
        sort: 'age',
        outcome: { ok: true, value },
      });
      const [head = '', row = ''] = frame(state).map(plainText).slice(3);
      assert.equal(row.length, head.length);
      assert.doesNotMatch(head, /…/);
      assert.match(row, columns >= 100 ? /1\.0 kB +2\.0 MB$/ : /paused/);
      assert.match(frame(state).map(plainText).at(-2) ?? '', /^ t1: paused for 12s, /);
    });
  }
});

describe('badges', () => {
  const badge = (
    state: 'ready' | 'draining',
    ...conditions: ('overdue' | 'late' | 'unresponsive' | 'slow')[]
  ) => badgeOf({ state, conditions }, UNICODE);

  it('show the state, then the worst condition', () => {
    assert.equal(badge('draining', 'overdue', 'slow').text, '◐ DRAINING overdue');
    assert.equal(badge('ready', 'slow').text, '● ready slow');
    assert.equal(badge('ready').text, '● ready');
  });

  it('of agents that do not answer say that alone', () => {
    assert.deepEqual(badge('ready', 'late'), { text: '✕ late', tone: 'bad' });
  });

  it('fit into 12 cells where room is short', () => {
    assert.equal(badgeOf({ state: 'draining', conditions: ['overdue'] }, UNICODE, true).text, '◐ overdue');
    assert.equal(
      badgeOf({ state: 'ready', conditions: ['unresponsive'] }, UNICODE, true).text,
      '✕ no answer',
    );
  });

  for (const [env, unicode] of [
    [{ LANG: 'en_US.UTF-8' }, true],
    [{ LANG: 'C.utf8' }, true],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
    [{}, false],
  ] as const) {
    it(`are ${unicode ? 'Unicode' : 'ASCII'} with ${JSON.stringify(env)}`, () => {
      assert.equal(glyphsFor(env), unicode ? UNICODE : ASCII);
    });
  }
});

describe('a sparkline', () => {
  it('has the newest value on the right and the highest as a full bar', () => {
    assert.equal(sparkline([5, 0, 4, 8], 4, UNICODE.spark), '▆▁▅█');
    assert.equal(sparkline([8], 4, UNICODE.spark), '   █');
  });
});
