import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decide, noOrder, onTheWire, type StandingOrder } from '../../src/proxy/agent/standing-order.ts';
import { blankOrderChange, type OrderChange, type WireOrder } from '../../src/proxy/wire/order.ts';

const order = (id: string, version = 1, more: Partial<WireOrder> = {}): WireOrder => ({
  id,
  version,
  actor: 'ada',
  actorClaimed: false,
  reason: 'kernel',
  sinceUnixMs: 1,
  deadlineInMs: -1,
  close: false,
  untilRestart: false,
  ...more,
});
const place = (id: string, version = 1): OrderChange => ({
  ...blankOrderChange(),
  order: order(id, version),
});
const end = (...ended: string[]): OrderChange => ({ ...blankOrderChange(), ended, endedBy: 'bob' });

/** What is left after the changes, and what was said of the last one. */
function after(...changes: OrderChange[]): { standing: StandingOrder; kinds: string[] } {
  let standing = noOrder;
  let kinds: string[] = [];
  for (const change of changes) {
    const decision = decide(standing, change, 0);
    standing = decision.standing;
    kinds = decision.events.map((event) => event.kind);
  }
  return { standing, kinds };
}

const inForce = (standing: StandingOrder): string =>
  standing.order === undefined ? 'none' : `${standing.order.id}/${standing.order.version}`;

for (const [what, changes, force, number, kinds] of [
  ['the first order is taken', [place('a')], 'a/1', 1, ['accepted']],
  ['another order is refused while one is in force', [place('a'), place('b')], 'a/1', 1, ['refused']],
  ['a higher version of the same order is taken', [place('a'), place('a', 3)], 'a/3', 2, ['updated']],
  ['the same version again changes nothing', [place('a', 2), place('a', 2)], 'a/2', 1, []],
  ['a lower version changes nothing', [place('a', 2), place('a')], 'a/2', 1, []],
  ['an end of the order in force ends it', [place('a'), end('a')], 'none', 2, ['ended']],
  [
    'an end of another order is remembered, and that one is never taken',
    [place('a'), end('b'), end('a'), place('b')],
    'none',
    3,
    ['refused'],
  ],
  [
    'an ended order does not come back in a higher version',
    [end('a'), place('a', 9)],
    'none',
    1,
    ['refused'],
  ],
  ['the same end again changes nothing', [place('a'), end('a'), end('a')], 'none', 2, []],
  ['another order is taken after the end of one', [place('a'), end('a'), place('b')], 'b/1', 3, ['accepted']],
  [
    'an end and an order in one packet replace the order, as one change',
    [place('a'), { ...end('a'), order: order('b') }],
    'b/1',
    2,
    ['ended', 'accepted'],
  ],
  [
    'an order that its own packet ends is not taken',
    [{ ...end('a'), order: order('a') }],
    'none',
    1,
    undefined,
  ],
  ['an empty change changes nothing', [blankOrderChange()], 'none', 0, []],
] as const) {
  test(what, () => {
    const result = after(...changes);
    assert.equal(inForce(result.standing), force);
    assert.equal(result.standing.number, number);
    if (kinds !== undefined) assert.deepEqual(result.kinds, kinds);
  });
}

test('an end says who ended what', () => {
  const { standing } = after(place('a'));
  const [event] = decide(standing, { ...end('a'), endedByClaimed: true }, 0).events;
  assert.ok(event?.kind === 'ended');
  assert.deepEqual([event.order.id, event.by, event.claimed], ['a', 'bob', true]);
});

test('of more than 64 ended orders the oldest are forgotten', () => {
  const ids = Array.from({ length: 70 }, (_, i) => `id-${i}`);
  const { standing } = after(...ids.map((id) => end(id)));
  assert.deepEqual(standing.ended, ids.slice(6));
});

test('the time to the deadline goes down on the own clock, to 0 and no further', () => {
  const timed = { ...blankOrderChange(), order: order('a', 1, { deadlineInMs: 5_000 }) };
  const held = decide(noOrder, timed, 1_000.25).standing.order;
  assert.ok(held !== undefined);
  assert.deepEqual(
    [1_000.25, 3_000.5, 6_000, 6_000.25, 9_000].map((nowMs) => onTheWire(held, nowMs).deadlineInMs),
    [5_000, 3_000, 1, 0, 0],
  );
});

test('an order is sent on as it came', () => {
  for (const deadlineInMs of [-1, 0, 77]) {
    const came = order('a', 4, { deadlineInMs, close: true, untilRestart: true, actorClaimed: true });
    const held = decide(noOrder, { ...blankOrderChange(), order: came }, 12).standing.order;
    assert.deepEqual(held && onTheWire(held, 12), came);
  }
});

const id = fc.constantFrom('a', 'b', 'c', 'd');
const change: fc.Arbitrary<OrderChange> = fc.record({
  order: fc.option(
    fc.tuple(id, fc.integer({ min: 1, max: 3 })).map(([one, version]) => order(one, version)),
    { freq: 1 },
  ),
  ended: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(id, { maxLength: 2 })),
  endedBy: fc.constant('bob'),
  endedByClaimed: fc.boolean(),
});

test('in any sequence of changes the rules hold, and what changed nothing has no number', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      let standing = noOrder;
      const everEnded = new Set<string>();
      for (const one of changes) {
        const before = standing;
        standing = decide(before, one, 0).standing;
        for (const gone of one.ended) everEnded.add(gone);
        assert.deepEqual(new Set(standing.ended), everEnded);
        assert.equal(standing.ended.length, everEnded.size);
        const [was, is] = [before.order, standing.order];
        if (is !== undefined) assert.ok(!everEnded.has(is.id));
        // The first wins: it goes only by its end, or to a later version of itself.
        if (was !== undefined && !one.ended.includes(was.id)) {
          assert.equal(is?.id, was.id);
          assert.ok((is?.version ?? 0) >= was.version);
        }
        // Nobody invents an order, and none is left lying while there is no other.
        if (is !== was)
          assert.ok(is === undefined || (is.id === one.order?.id && is.version === one.order.version));
        if (is === undefined && one.order !== null) assert.ok(everEnded.has(one.order.id));
        const changed =
          inForce(before) !== inForce(standing) || before.ended.length !== standing.ended.length;
        assert.equal(standing.number, before.number + (changed ? 1 : 0));
        if (!changed) assert.equal(standing, before);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('an order and ends that come twice, or over several servers, leave what they leave once', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const once = after(...changes).standing;
      const twice = after(...changes.flatMap((one) => [one, one])).standing;
      assert.deepEqual(twice, once);
    }),
    { numRuns: 500 },
  );
});
