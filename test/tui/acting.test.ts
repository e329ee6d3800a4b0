import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BINDINGS, bindingsOf } from '../../src/tui/keys.ts';
import { frame } from '../../src/tui/layout/frame.ts';
import { plainText } from '../../src/tui/layout/span.ts';
import { reduce } from '../../src/tui/state/reduce.ts';
import type { TopState } from '../../src/tui/state/top-state.ts';
import { wantedOf } from '../../src/tui/state/wanted.ts';
import type { Key } from '../../src/tui/terminal/key.ts';
import { adminAgent, adminOrder } from '../peers/admin-agent.ts';
import { fleetEvent, keysOf, mixedFleet, screenOf, tunnel, typed } from './fleet.ts';

/** Requests that change something. */
const acts = (state: TopState) =>
  wantedOf(state).filter(({ kind }) => kind === 'drain' || kind === 'undrain' || kind === 'close');
const text = (state: TopState): string => frame(state).map(plainText).join('\n');
const read = (state: TopState, keys: string | Key[]): TopState =>
  reduce(state, { type: 'read', keys: typeof keys === 'string' ? keysOf(keys) : keys });

/** The servers answered what draining would mean. */
function previewed(state: TopState, guard?: string): TopState {
  const { dialog } = state;
  assert.ok(dialog?.kind === 'drain' && dialog.preview.kind === 'asking');
  const results = dialog.ids.map((agentId) => ({
    agentId,
    change: 'placed' as const,
    order: adminOrder(agentId),
    agent: adminAgent(agentId),
    takeover: ['any destination -> 41 ready agents'],
    notes: [],
  }));
  const outcome = { ok: true as const, value: { results, guard } };
  return reduce(state, { type: 'drain-preview', request: dialog.preview.request, outcome });
}

function undrainPreviewed(state: TopState): TopState {
  const { dialog } = state;
  assert.ok(dialog?.kind === 'undrain' && dialog.preview.kind === 'asking');
  return reduce(state, {
    type: 'undrain-preview',
    request: dialog.preview.request,
    outcome: { ok: true, value: [] },
  });
}

const VIEWS = ['', '<enter>', 'T', 'A', 'E', 't', '?'];

describe('changing something', () => {
  it('takes the dialog, Tab to the button, and Enter', () => {
    const asked = previewed(typed(screenOf(), 'd'));
    assert.deepEqual(acts(asked), []);
    assert.match(text(asked), /\[ Cancel \]/);
    const done = typed(asked, '<tab><enter>');
    assert.deepEqual(acts(done), [
      { kind: 'drain', key: 'apply 2', request: 2, drain: { agentIds: ['node-d-01ff'] } },
    ]);
  });

  it('says that the servers are still being asked only until they have answered', () => {
    for (const [key, answered] of [
      ['d', previewed],
      ['u', undrainPreviewed],
    ] as const) {
      const early = typed(screenOf(), `${key}<tab><enter>`);
      assert.deepEqual(acts(early), []);
      assert.match(text(early), /the servers are still being asked; again in a moment/);
      const known = answered(early);
      assert.doesNotMatch(text(known), /asked/);
      assert.equal(acts(typed(known, '<enter>')).length, 1);
    }
  });

  it('is not confirmed by any letter, in any dialog', () => {
    const dialogs = [
      previewed(typed(screenOf(), 'd')),
      undrainPreviewed(typed(screenOf(), 'u')),
      typed(tunnelsShown(), 'x'),
    ];
    for (const dialog of dialogs) {
      assert.notEqual(dialog.dialog, undefined);
      for (let code = 32; code < 127; code++) {
        const state = typed(dialog, `<tab>`);
        assert.deepEqual(acts(read(state, [{ kind: 'text', text: String.fromCharCode(code) }])), []);
      }
    }
  });

  for (const view of VIEWS) {
    it(`does not come of pasting "daily" and Enter${view === '' ? '' : ` after ${view}`}`, () => {
      const state = typed(screenOf(), view);
      const marked = read(state, [{ kind: 'paste', text: 'daily\r' }]);
      const unmarked = read(state, 'daily<enter>');
      const oneByOne = typed(state, 'daily<enter>');
      for (const after of [marked, unmarked, oneByOne]) {
        assert.deepEqual(acts(after), []);
        for (const { kind } of wantedOf(after)) assert.ok(!kind.startsWith('apply'));
      }
      assert.equal(marked.dialog, undefined);
    });
  }

  it('does not come of an unmarked paste with tabs', () => {
    assert.deepEqual(acts(read(screenOf(), 'd<tab><enter>')), []);
    const open = previewed(typed(screenOf(), 'd'));
    assert.deepEqual(acts(read(open, '<tab><enter>')), []);
    assert.deepEqual(acts(read(typed(open, '<tab>'), '<enter><enter>')), []);
  });

  it('does not come of the last block of an unmarked paste, and says so', () => {
    const ready = typed(previewed(typed(screenOf(), 'd')), '<tab>');
    const pasted = reduce(ready, { type: 'read', keys: keysOf('<enter>'), pasted: true });
    assert.deepEqual(acts(pasted), []);
    assert.match(text(pasted), /enter once more/);
    assert.equal(acts(typed(pasted, '<enter>')).length, 1);
  });

  it('shows all of a long note on undraining', () => {
    const open = typed(screenOf(), 'u');
    assert.ok(open.dialog?.kind === 'undrain' && open.dialog.preview.kind === 'asking');
    const notes = [`${'word '.repeat(40)}end`];
    const [agentId = ''] = open.dialog.ids;
    const value = [{ agentId, change: 'ended' as const, agent: adminAgent(agentId), notes }];
    const { request } = open.dialog.preview;
    const known = reduce(open, { type: 'undrain-preview', request, outcome: { ok: true, value } });
    assert.match(text(known), /word end /);
  });

  it('keys of the read that opened a dialog are dropped', () => {
    const state = read(screenOf(), 'd<shift-tab>xyz');
    assert.equal(state.dialog?.focus, 'cancel');
  });

  it('Enter on Cancel and esc leave everything as it was', () => {
    for (const keys of ['<enter>', '<escape>']) {
      const state = typed(previewed(typed(screenOf(), 'd')), keys);
      assert.equal(state.dialog, undefined);
      assert.deepEqual(acts(state), []);
    }
  });

  it('waits until the servers have said what it means', () => {
    const state = typed(screenOf(), 'd<tab><enter>');
    assert.deepEqual(acts(state), []);
    assert.match(text(state), /still being asked/);
  });

  it('is not possible while no server answers', () => {
    const open = previewed(typed(screenOf(), 'd'));
    const servers = open.servers.map((server) => ({
      ...server,
      link: { kind: 'lost' as const, sinceMs: open.nowMs, reason: 'gone', retryAtMs: undefined },
    }));
    const stale = reduce(open, { type: 'fleet', nowMs: open.nowMs, servers, everything: open.everything });
    const tried = typed(stale, '<tab><enter>');
    assert.deepEqual(acts(tried), []);
    assert.match(text(tried), /no server answers: nothing can be changed/);
  });

  it('is asked about again when a server that could not say comes back', () => {
    const open = typed(screenOf(), 'd');
    assert.ok(open.dialog?.kind === 'drain' && open.dialog.preview.kind === 'asking');
    const { request } = open.dialog.preview;
    const outcome = { ok: false as const, reason: 'the server does not answer' };
    const failed = reduce(open, { type: 'drain-preview', request, outcome });
    const servers = open.servers.map((server) => ({
      ...server,
      link: { kind: 'lost' as const, sinceMs: open.nowMs, reason: 'gone', retryAtMs: undefined },
    }));
    const lost = reduce(failed, { type: 'fleet', nowMs: open.nowMs, servers, everything: open.everything });
    const tried = typed(lost, '<tab><enter>');
    assert.deepEqual(
      wantedOf(tried).filter(({ kind }) => kind === 'drain-preview'),
      [],
    );
    const back = reduce(tried, fleetEvent(mixedFleet()));
    assert.equal(wantedOf(back).filter(({ kind }) => kind === 'drain-preview').length, 1);
    assert.doesNotMatch(text(back), /does not answer|nothing can be changed/);
  });

  it('says when an agent has gone while the question stands', () => {
    const open = previewed(typed(screenOf(), 'd'));
    assert.doesNotMatch(text(open), /not connected/);
    const fleet = mixedFleet().map((agent) =>
      agent.id === 'node-d-01ff' ? { ...agent, state: 'gone' as const } : agent,
    );
    assert.match(text(reduce(open, fleetEvent(fleet))), /It is not connected: an order waits/);
  });

  it('is about IDs that are looked up again', () => {
    const open = previewed(typed(screenOf(), 'd'));
    const rest = mixedFleet().filter(({ id }) => id !== 'node-d-01ff');
    const tried = typed(reduce(open, fleetEvent(rest)), '<tab><enter>');
    assert.deepEqual(acts(tried), []);
    assert.match(text(tried), /node-d-01ff is no longer known/);
  });

  it('a refusal of the guard is shown, and only the number of tunnels goes past it', () => {
    const open = previewed(
      typed(screenOf(), 'jjjd'),
      'host 10.0.1.18 would be left with draining agents alone',
    );
    assert.match(text(open), /Refused: host 10\.0\.1\.18 would be left/);
    const tried = typed(open, '<tab><enter>');
    assert.deepEqual(acts(tried), []);
    assert.match(text(tried), /type the number of tunnels: 3/);
    const forced = typed(open, '<shift-tab>3<tab><tab><enter>');
    assert.deepEqual(
      acts(forced).map((one) => 'drain' in one && one.drain),
      [{ agentIds: ['node-b-2231'], force: true }],
    );
  });

  it('that closes tunnels at a deadline asks for their number', () => {
    const open = typed(screenOf(), 'jjjd');
    // From Cancel: reason, until, deadline, then.
    const close = previewed(typed(open, '<tab><tab>patch<tab><tab>30m<tab> '));
    assert.deepEqual(acts(typed(close, '<tab><tab><tab><enter>')), []);
    const done = typed(close, '<tab>3<tab><tab><enter>');
    assert.deepEqual(
      acts(done).map((one) => 'drain' in one && one.drain),
      [
        {
          agentIds: ['node-b-2231'],
          reason: 'kernel patchpatch',
          deadlineSeconds: 1_800,
          atDeadline: 'close',
        },
      ],
    );
  });

  it('until the restart of the agent is asked about anew, and said to the servers', () => {
    // From Cancel: reason, until.
    const turned = typed(previewed(typed(screenOf(), 'jjjd')), '<tab><tab><tab><right>');
    assert.deepEqual(acts(typed(turned, '<tab><tab><tab><tab><enter>')), []);
    const done = typed(previewed(turned), '<tab><tab><tab><tab><enter>');
    assert.deepEqual(
      acts(done).map((one) => 'drain' in one && one.drain),
      [{ agentIds: ['node-b-2231'], until: 'restart' }],
    );
  });

  it('a deadline that is no duration is refused with the words', () => {
    const open = previewed(typed(screenOf(), 'jjjd'));
    const tried = typed(open, '<tab><tab><tab><tab>soon<tab><tab><tab><enter>');
    assert.deepEqual(acts(tried), []);
    assert.match(text(tried), /"soon" is no duration/);
  });

  it('pasted text reaches the text field that has the focus, and nothing else', () => {
    const open = previewed(typed(screenOf(), 'jjjd'));
    const paste: Key[] = [{ kind: 'paste', text: 'daily\r\n' }];
    assert.deepEqual(read(open, paste), open);
    const field = read(typed(open, '<tab><tab>'), paste);
    assert.ok(field.dialog?.kind === 'drain');
    assert.equal(field.dialog.reason.text, 'kernel patchdaily');
  });

  it('acts on the marked ones, also those that a filter hides', () => {
    const state = typed(screenOf(), ' jj /node-a<enter>d');
    assert.ok(state.dialog?.kind === 'drain');
    assert.deepEqual([...state.dialog.ids].sort(), ['node-b-2231', 'node-d-01ff']);
    assert.match(text(state), /Drain 2 agents\?/);
  });

  it('tells the result until the next key, which does its work', () => {
    const applying = typed(previewed(typed(screenOf(), 'jjjd')), '<tab><enter>');
    assert.match(text(applying), /asking the servers to do it/);
    const [, , , agent] = mixedFleet();
    const done = reduce(applying, {
      type: 'drained',
      request: 2,
      outcome: {
        ok: true,
        value: {
          results: [
            {
              agentId: 'node-b-2231',
              change: 'placed',
              order: adminOrder('node-b-2231'),
              agent: adminAgent('node-b-2231', { tunnels: 3, serverIds: ['a', 'b', 'c'], serverCount: 3 }),
              takeover: [],
              notes: [],
            },
          ],
          failures: [],
        },
      },
    });
    assert.ok(agent);
    assert.match(text(done), /node-b-2231 is draining on 3\/3 servers: 3 tunnels left$/);
    const after = typed(done, 'j');
    assert.equal(after.result, undefined);
    assert.equal(after.table.selected, 'node-c-9a10');
  });

  it('is asked about with the oldest tunnel and where it leads, and with who takes over', () => {
    const open = typed(screenOf(), 'jjjd');
    assert.ok(open.dialog?.kind === 'drain' && open.dialog.preview.kind === 'asking');
    const { request } = open.dialog.preview;
    const since = open.agents.get('node-b-2231')?.oldestTunnelSince ?? new Date(0);
    const takeover = ['default -> 41 ready', 'host db-x -> default only'];
    const result = {
      agentId: 'node-b-2231',
      change: 'placed' as const,
      order: adminOrder('node-b-2231'),
      agent: adminAgent('node-b-2231'),
      takeover,
      notes: [],
    };
    const known = (at: Date): string => {
      const value = {
        results: [result],
        guard: undefined,
        oldest: { destination: '10.0.1.18:10250', since: at },
      };
      return text(reduce(open, { type: 'drain-preview', request, outcome: { ok: true, value } }));
    };
    assert.match(known(since), /│ 3 tunnels finish there, the oldest 41m to 10\.0\.1\.18:10250 /);
    assert.match(known(since), /│ New dials: default -> 41 ready .*\n.*│ {12}host db-x -> default only /);
    // Another one by now.
    assert.match(known(new Date(0)), /│ 3 tunnels finish there, the oldest 41m /);
  });

  it('says how to go on without a server that does not answer, where others do', () => {
    const open = typed(screenOf(), 'd');
    assert.ok(open.dialog?.kind === 'drain' && open.dialog.preview.kind === 'asking');
    const { request } = open.dialog.preview;
    const [one] = open.servers;
    assert.ok(one);
    const link = { kind: 'lost' as const, sinceMs: open.nowMs, reason: 'gone', retryAtMs: undefined };
    const failed = (servers: TopState['servers']): string => {
      const state = reduce(open, { type: 'fleet', nowMs: open.nowMs, servers, everything: open.everything });
      const outcome = { ok: false as const, reason: 'nothing was changed: cp-2: gone' };
      return text(reduce(state, { type: 'drain-preview', request, outcome }));
    };
    assert.match(failed([one, { ...one, link }]), /esc, then \[ \] to that server/);
    assert.doesNotMatch(failed([{ ...one, link }]), /esc, then \[ \]/);
  });

  it('a refusal at the end stays readable', () => {
    const applying = typed(previewed(typed(screenOf(), 'jjjd')), '<tab><enter>');
    const outcome = { ok: false as const, reason: 'host 10.0.1.18 would be left with draining agents alone' };
    assert.match(
      text(reduce(applying, { type: 'drained', request: 2, outcome })),
      /10\.0\.1\.18 would be left/,
    );
  });

  it('undrain asks, too, and only where there is something to end', () => {
    const open = undrainPreviewed(typed(screenOf(), 'u'));
    assert.match(text(open), /Undrain node-d-01ff\?/);
    assert.equal(acts(typed(open, '<tab><enter>')).length, 1);
    const none = typed(screenOf(), 'Gu');
    assert.equal(none.dialog, undefined);
    assert.match(text(none), /node-a-7f9c has no drain order/);
  });

  it('closing a tunnel asks, and names the server that has it', () => {
    const open = typed(tunnelsShown(), 'x');
    assert.match(text(open), /Close the tunnel t1\?/);
    assert.deepEqual(acts(typed(open, '<tab><enter>')), [
      { kind: 'close', key: 'apply 1', request: 1, tunnel: 't1', server: 'cp-1' },
    ]);
  });
});

describe('those who may only look', () => {
  const ACTING = BINDINGS.filter(({ acts: does }) => does !== undefined);

  for (const [who, options] of [
    ['viewers', { role: 'viewer' }],
    ['--read-only', { readOnly: true }],
  ] as const) {
    it(`have no acting keys: ${who}`, () => {
      const state = screenOf(mixedFleet(), options);
      for (const { keys } of ACTING) {
        for (const key of keys) {
          const after = typed(state, key);
          assert.equal(after.dialog, undefined);
          assert.equal(after.result, undefined);
        }
      }
      const footer = text(state).split('\n').at(-1);
      for (const { shown, label } of ACTING) {
        if (label !== undefined) assert.ok(!footer?.includes(` ${shown} ${label}  `), label);
      }
      assert.doesNotMatch(text(typed(state, '?')), /drain the agent/);
    });
  }

  it('the header says so', () => {
    assert.match(text(screenOf(mixedFleet(), { role: 'viewer' })), / viewer /);
  });
});

describe('the table of keys', () => {
  it('has no key twice in a view', () => {
    for (const view of ['agents', 'details', 'tunnels', 'events', 'selection', 'help'] as const) {
      const keys = bindingsOf(view, true, true).flatMap((binding) => binding.keys);
      assert.deepEqual(keys, [...new Set(keys)]);
    }
  });

  it('is the help', () => {
    const lines = text(typed(screenOf(mixedFleet(), { rows: 60 }), '?'));
    for (const { help, demo } of BINDINGS) assert.equal(lines.includes(help), demo === undefined, help);
  });
});

function tunnelsShown(): TopState {
  return reduce(typed(screenOf(), 'A'), {
    type: 'tunnels',
    agent: undefined,
    sort: 'age',
    outcome: { ok: true, value: { tunnels: [tunnel('t1'), tunnel('t2')], total: 2 } },
  });
}
