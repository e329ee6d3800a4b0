import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ASCII } from '../../src/tui/badge.ts';
import { lineWidth } from '../../src/tui/layout/clip.ts';
import { frame } from '../../src/tui/layout/frame.ts';
import { plainText } from '../../src/tui/layout/span.ts';
import { reduce } from '../../src/tui/state/reduce.ts';
import type { TopState } from '../../src/tui/state/top-state.ts';
import { wantedOf } from '../../src/tui/state/wanted.ts';
import { adminAgent, adminOrder } from '../peers/admin-agent.ts';
import { fleetEvent, mixedFleet, screenOf, typed } from './fleet.ts';

const text = (state: TopState): string => frame(state).map(plainText).join('\n');
const sized = (state: TopState, columns: number, rows: number): TopState =>
  reduce(state, { type: 'resized', columns, rows });
const SMALL = [
  [39, 8],
  [40, 7],
] as const;

/** A drain dialog whose servers have answered. */
function asked(state: TopState, guard?: string): TopState {
  const open = typed(state, 'd');
  assert.ok(open.dialog?.kind === 'drain' && open.dialog.preview.kind === 'asking');
  const results = open.dialog.ids.map((agentId) => ({
    agentId,
    change: 'placed' as const,
    order: adminOrder(agentId),
    agent: adminAgent(agentId),
    takeover: ['any destination -> default: 41 ready agents of a large fleet'],
    notes: [],
  }));
  const outcome = { ok: true as const, value: { results, guard } };
  return reduce(open, { type: 'drain-preview', request: open.dialog.preview.request, outcome });
}

const changes = (state: TopState) => wantedOf(state).filter(({ key }) => key.startsWith('apply'));

describe('a screen that is too small', () => {
  for (const [columns, rows] of SMALL) {
    it(`opens nothing unseen at ${columns}x${rows}`, () => {
      const state = sized(screenOf(), columns, rows);
      for (const keys of ['d', 'u', 't', 'T', 'A', '/', '?', ' ', 's', 'D', '<enter>']) {
        const after = typed(state, keys);
        assert.equal(after.dialog, undefined);
        assert.deepEqual(after.views, state.views);
        assert.deepEqual(after.table, state.table);
      }
    });

    it(`confirms nothing unseen at ${columns}x${rows}, and esc leaves the question`, () => {
      const shrunk = sized(typed(asked(screenOf()), '<tab>'), columns, rows);
      assert.deepEqual(changes(typed(shrunk, '<enter>')), []);
      assert.equal(typed(shrunk, '<escape>').dialog, undefined);
      assert.equal(changes(typed(sized(shrunk, 80, 24), '<enter>')).length, 1);
    });
  }

  it('is left with Ctrl-C', () => {
    assert.equal(typed(sized(screenOf(), 20, 3), '<ctrl-c>').wants, 'quit');
  });
});

describe('a dialog on a short screen', () => {
  it('shows the field that is typed into, and its buttons', () => {
    let state = asked(sized(screenOf(), 40, 8));
    for (const label of ['Reason', 'Until', 'Deadline', 'then']) {
      state = typed(state, label === 'Reason' ? '<tab><tab>' : '<tab>');
      assert.match(text(state), new RegExp(`> ${label}`));
      assert.match(text(state), /Cancel.*drain/);
    }
  });

  it('begins with the refusal of the guard, and shows the number that it asks for', () => {
    const state = asked(sized(screenOf(), 40, 8), 'host db-x would have no ready agent');
    assert.match(text(state), /Refused: host db-x/);
    const tried = typed(state, '<shift-tab>');
    assert.match(text(tried), /> Type the number of tunnels/);
  });

  it('keeps the field in sight under a complaint', () => {
    const state = asked(sized(screenOf(), 40, 8));
    const wrong = typed(state, '<shift-tab><shift-tab>x<tab><tab><tab><enter>');
    assert.match(text(wrong), /is no duration/);
    assert.match(text(wrong), /\[ drain \]/);
  });

  it('is as wide as the wide letters of its title ask for', () => {
    const id = '節点'.repeat(16);
    const state = asked(screenOf([adminAgent(id)], { columns: 100, rows: 24 }));
    assert.match(text(state), new RegExp(`Drain ${id} .*\\?`));
    for (const one of frame(state)) assert.ok(lineWidth(one) <= 100);
  });
});

describe('a text longer than the screen', () => {
  for (const keys of ['?', '<enter>']) {
    it(`scrolls back at the first key after its end (${keys})`, () => {
      const state = typed(sized(screenOf(), 80, 12), keys);
      const end = typed(state, 'G');
      assert.notEqual(text(typed(end, 'k')), text(end));
      assert.equal(text(typed(end, 'jjjj')), text(end));
      assert.equal(text(typed(end, 'g')), text(state));
    });
  }
});

describe('a terminal without UTF-8', () => {
  it('is sent ASCII alone, in the same cells', () => {
    const agents = [...mixedFleet(), adminAgent('Û31m-節点-🚀-עברית')];
    for (const keys of ['', 'd', '?', '<enter>', 't', '/節<enter>']) {
      const state = typed(screenOf(agents, { glyphs: ASCII, columns: 80 }), keys);
      const unicode = typed(screenOf(agents, { columns: 80 }), keys);
      for (const [i, one] of frame(state).entries()) {
        assert.match(plainText(one), /^[ -~]*$/);
        assert.ok(lineWidth(one) <= 80, `${i}`);
      }
      assert.equal(frame(state).length, frame(unicode).length);
    }
  });
});

describe('text that comes by a way of its own', () => {
  it('shows words of a server that turn the text, or hide in it, as what they are', () => {
    const state = screenOf();
    const servers = state.servers.map((server) => ({
      ...server,
      info: server.info && { ...server.info, unservedStrategies: ['a\u061cb\u3164c'] },
    }));
    const shown = reduce(state, {
      type: 'fleet',
      nowMs: state.nowMs,
      servers,
      everything: state.everything,
    });
    assert.match(text(shown), /no agent for a\\u\{61c\}b\\u\{3164\}c/);
  });

  it('never brings controls to the screen', () => {
    const state = typed(screenOf(), 'A');
    const failed = reduce(state, {
      type: 'tunnels',
      agent: undefined,
      sort: 'age',
      outcome: { ok: false, reason: 'no \u001b[2J\u009b31m\u202e agent' },
    });
    assert.match(text(failed), /no \?\[2J\?31m\? agent/);
    const filtered = typed(screenOf(), '/');
    const pasted = reduce(filtered, { type: 'read', keys: [{ kind: 'paste', text: 'x\u202ey' }] });
    assert.doesNotMatch(text(typed(pasted, '<enter>')), /\u202e/);
  });
});

describe('two screens on one agent', () => {
  it('does not confirm what the other has changed meanwhile', () => {
    const others = (order: ReturnType<typeof adminOrder> | undefined) =>
      mixedFleet().map(({ order: _, ...agent }) =>
        agent.id === 'node-b-2231' && order !== undefined ? { ...agent, order } : agent,
      );
    const here = screenOf(others(undefined));
    const open = asked({ ...here, table: { ...here.table, selected: 'node-b-2231' } });
    const placed = reduce(open, fleetEvent(others(adminOrder('node-b-2231', { reason: 'theirs' }))));
    const tried = typed(placed, '<tab><enter>');
    assert.deepEqual(changes(tried), []);
    assert.match(text(tried), /the order of node-b-2231 was changed meanwhile/);
    assert.equal(changes(typed(open, '<tab><enter>')).length, 1);
  });
});
