import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { inForce, placedHere } from '../../src/proxy/server/drain/order-state.ts';
import { type Server, World } from './drain-world.ts';

const AGENTS = ['a', 'b', 'c'];
const RUNS = Number(process.env.DRAIN_MODEL_RUNS ?? 300);

/** The plain model of one agent: what operators did to it since it was last quiet. */
interface Plain {
  /** IDs of orders that may be in force. */
  placed: Set<string>;
  undrained: boolean;
  restarted: boolean;
  /** Orders that end with the instance. */
  untilRestart: Set<string>;
  /** No server has the order that is in force, the agent alone; nobody has one that was placed. */
  carried: boolean;
  lost: boolean;
}

const agent = fc.nat(AGENTS.length - 1);
const server = fc.nat(1);
const operation = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ op: fc.constant('deliver'), line: fc.nat(20), towardsAgent: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('drain'),
      agent,
      server,
      reason: fc.nat(2),
      both: fc.boolean(),
      restart: fc.nat(5),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('undrain'), agent, server, both: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('connect'), agent, server }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('hang-up'), line: fc.nat(20), lost: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('restart-agent'), agent, lost: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('restart-server'), server, forgets: fc.nat(2) }) },
);
type Fields = {
  line: number;
  towardsAgent: boolean;
  reason: number;
  restart: number;
  both: boolean;
  lost: boolean;
  forgets: number;
};
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

function perform(world: World, plain: Map<string, Plain>, step: Operation): void {
  const at = world.servers[(step as { server?: number }).server ?? 0] as Server;
  const agentId = AGENTS[(step as { agent?: number }).agent ?? 0] as string;
  const model = plain.get(agentId) as Plain;
  const one = step as unknown as Fields;
  switch (step.op) {
    case 'deliver': {
      const line = world.lines[one.line % Math.max(1, world.lines.length)];
      if (line !== undefined) world.deliver(line, one.towardsAgent);
      return;
    }
    case 'drain': {
      const id = world.newOrderId();
      const reason = one.reason === 0 ? undefined : `reason ${one.reason}`;
      const until = one.restart === 0 ? 'restart' : undefined;
      for (const where of one.both ? world.servers : [at]) {
        if (world.drain(where, agentId, id, reason, until) === undefined) continue;
        model.placed.add(id);
      }
      if (until !== undefined) for (const known of model.placed) model.untilRestart.add(known);
      return;
    }
    case 'undrain':
      model.undrained = true;
      for (const where of one.both ? world.servers : [at]) world.undrain(where, agentId);
      return;
    case 'connect':
      if (world.lines.filter((line) => line.server === at && line.agentId === agentId).length < 3) {
        world.connect(agentId, at);
      }
      return;
    case 'hang-up': {
      const line = world.lines[one.line % Math.max(1, world.lines.length)];
      if (line?.agentOpen) world.hangUp(line, one.lost);
      return;
    }
    case 'restart-agent':
      model.restarted = true;
      world.restartAgent(agentId, one.lost);
      world.forgetEnds();
      return;
    case 'restart-server':
      if (one.forgets === 0) for (const [id, other] of plain) noteForgotten(world, at, id, other);
      at.restart(one.forgets === 0);
      world.lines = world.lines.filter((line) => line.serverOpen);
      world.forgetEnds();
      return;
  }
}

/** That server is about to forget its orders. */
function noteForgotten(world: World, at: Server, agentId: string, model: Plain): void {
  const own = placedHere(at.ledger.stateOf(agentId))?.id;
  if (own === undefined) return;
  const elsewhere = world.servers.some(
    (other) => other !== at && placedHere(other.ledger.stateOf(agentId)) !== undefined,
  );
  if (elsewhere) return;
  if (world.agents.get(agentId)?.standing.order?.id === own) model.carried = true;
  else model.lost = true;
}

function check(world: World, plain: Map<string, Plain>): void {
  assert.ok(world.quiet(), 'it never becomes quiet');
  for (const [agentId, model] of plain) {
    const process = world.agents.get(agentId);
    const held = process?.standing.order;
    for (const one of world.servers) {
      const known = inForce(one.ledger.stateOf(agentId));
      assert.deepEqual(
        [known?.id, known?.version, known?.reason],
        [held?.id, held?.version, held?.reason],
        `a server's view of ${agentId}`,
      );
      assert.equal(one.ledger.acknowledged(agentId), held !== undefined);
      for (const line of one.lines) {
        if (line.agentId !== agentId) continue;
        assert.equal(one.ledger.drains(line), held !== undefined, `the mark of ${agentId}`);
      }
    }
    if (held !== undefined) {
      assert.ok(!world.ended.get(agentId)?.has(held.id), `${held.id} was ended, and is in force`);
      assert.ok(model.placed.has(held.id), 'an order that nobody placed');
    }
    const mayEnd =
      model.undrained || model.lost || (model.restarted && (model.carried || model.untilRestart.size > 0));
    if (!mayEnd && model.placed.size > 0) assert.ok(held !== undefined, `the order of ${agentId} is lost`);
    const stored = world.servers.map((one) => placedHere(one.ledger.stateOf(agentId)));
    model.placed = new Set([held, ...stored].flatMap((order) => order?.id ?? []));
    model.carried = held !== undefined && stored.every((order) => order?.id !== held.id);
    model.lost = false;
    model.undrained = false;
    model.restarted = false;
  }
}

const fresh = (): Map<string, Plain> =>
  new Map(
    AGENTS.map((id) => [
      id,
      {
        placed: new Set(),
        undrained: false,
        restarted: false,
        untilRestart: new Set(),
        carried: false,
        lost: false,
      },
    ]),
  );

it('after quiet all views of all orders agree, an end has won, and nothing is lost', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(operation, { maxLength: 60, size: 'max' }), {
        minLength: 1,
        maxLength: 4,
        size: 'max',
      }),
      (epochs) => {
        const world = new World(AGENTS);
        const plain = fresh();
        for (const epoch of epochs) {
          for (const step of epoch) perform(world, plain, step);
          check(world, plain);
        }
        // What an operator does at both servers then holds.
        for (const agentId of AGENTS) for (const one of world.servers) world.undrain(one, agentId);
        for (const model of plain.values()) model.undrained = true;
        check(world, plain);
        for (const agentId of AGENTS) assert.equal(world.agents.get(agentId)?.standing.order, undefined);
      },
    ),
    { numRuns: RUNS, endOnFailure: false },
  );
});
