import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { frame } from '../../src/tui/layout/frame.ts';
import { plainText } from '../../src/tui/layout/span.ts';
import { agentFilter } from '../../src/tui/state/filter-agents.ts';
import { reduce } from '../../src/tui/state/reduce.ts';
import { DEFAULT_STEADY_MS } from '../../src/tui/state/sort-agents.ts';
import type { TopState } from '../../src/tui/state/top-state.ts';
import { adminAgent, NOW } from '../peers/admin-agent.ts';
import { fleetEvent, mixedFleet, screenOf, typed } from './fleet.ts';

const order = (state: TopState): string => state.table.order.map((id) => id.slice(5, 6)).join('');
const later = (ms: number): number => NOW.getTime() + ms;

describe('the table of agents', () => {
  it('has what needs a person at the top, and ties by ID', () => {
    assert.equal(order(screenOf()), 'dfebca');
    const tied = ['node-z', 'node-x', 'node-y'].map((id) => adminAgent(id));
    assert.equal(order(screenOf(tied)), 'xyz');
  });

  it('moves an agent up at once when it needs attention, and down only when it stays well', () => {
    const fine = [adminAgent('node-a'), adminAgent('node-b')];
    const slow = [adminAgent('node-a'), adminAgent('node-b', { conditions: ['slow'] })];
    let state = screenOf(fine);
    const see = (agents: typeof fine, ms: number): string => {
      state = reduce(state, fleetEvent(agents, 'operator', later(ms)));
      return order(state);
    };
    assert.equal(order(state), 'ab');
    assert.equal(see(slow, 1_000), 'ba');
    assert.equal(see(fine, 2_000), 'ba');
    assert.equal(see(slow, 2_500), 'ba');
    assert.equal(see(fine, 3_000), 'ba');
    assert.equal(see(fine, 3_000 + DEFAULT_STEADY_MS - 1), 'ba');
    assert.equal(see(fine, 3_000 + DEFAULT_STEADY_MS), 'ab');
  });

  it('does not move rows because of a count that jitters', () => {
    const at = (a: number, b: number) => [
      adminAgent('node-a', { tunnels: a }),
      adminAgent('node-b', { tunnels: b }),
    ];
    let state = typed(screenOf(at(100, 101)), 'ss');
    assert.equal(state.table.sort, 'tunnels');
    assert.equal(order(state), 'ba');
    for (const [a, b] of [
      [110, 95],
      [90, 120],
    ] as const) {
      state = reduce(state, fleetEvent(at(a, b)));
      assert.equal(order(state), 'ba');
    }
    assert.equal(order(reduce(state, fleetEvent(at(200, 101)))), 'ab');
  });

  it('keeps the cursor on its agent through sort, filter and refresh', () => {
    let state = typed(screenOf(), 'jjj');
    assert.equal(state.table.selected, 'node-b-2231');
    state = typed(state, 's');
    assert.equal(state.table.selected, 'node-b-2231');
    state = typed(state, '/node-b<enter>');
    assert.equal(order(state), 'b');
    state = reduce(typed(state, '<escape>'), fleetEvent([adminAgent('node-0'), ...mixedFleet()]));
    assert.equal(state.table.selected, 'node-b-2231');
  });

  it('leaves the cursor on its row when the agent is gone', () => {
    const state = typed(screenOf(), 'jj');
    const rest = mixedFleet().filter(({ id }) => id !== state.table.selected);
    assert.equal(reduce(state, fleetEvent(rest)).table.selected, 'node-b-2231');
  });

  it('does not move under an open dialog', () => {
    const state = typed(screenOf(), 'd');
    const calm = mixedFleet().map((agent) => ({ ...agent, conditions: [] }));
    const shown = reduce(state, fleetEvent([adminAgent('node-0'), ...calm], 'operator', later(60_000)));
    assert.equal(order(shown), order(state));
    assert.equal(order(typed(shown, '<escape>')), 'dfebc0a');
  });

  it('scrolls no further than the cursor asks for', () => {
    const many = Array.from({ length: 100 }, (_, i) => adminAgent(`node-${String(i).padStart(3, '0')}`));
    const state = screenOf(many, { columns: 100, rows: 25 });
    const down = typed(state, 'j'.repeat(19));
    assert.equal(down.table.top, 0);
    assert.equal(typed(down, 'j').table.top, 1);
    assert.equal(typed(down, 'G').table.top, 80);
    assert.equal(typed(down, 'Gk').table.top, 80);
    assert.equal(typed(down, 'Gg').table.top, 0);
  });

  it('shows only what fits, of thousands', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => adminAgent(`node-${i}`));
    const lines = frame(screenOf(many, { columns: 100, rows: 25 }));
    assert.equal(lines.length, 25);
    assert.equal(lines.filter((line) => plainText(line).includes('node-')).length, 21);
  });

  it('D shows what is draining or drained alone', () => {
    assert.equal(order(typed(screenOf(), 'D')), 'dbc');
    assert.equal(order(typed(screenOf(), 'DD')), 'dfebca');
  });
});

describe('a filter', () => {
  const [, draining] = mixedFleet();
  for (const [text, matches] of [
    ['', true],
    ['NODE-B', true],
    ['draining 10.0.1.18', true],
    ['ipv4=10.0.1.18', true],
    ['alice kernel', true],
    ['node-b !draining', false],
    ['!ready', true],
    ['ready', false],
  ] as const) {
    it(`"${text}" ${matches ? 'finds' : 'does not find'} the draining agent`, () => {
      assert.ok(draining);
      assert.equal(agentFilter(text)(draining), matches);
    });
  }
});
