import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { StrategyName } from '../../src/proxy/server/selection/strategies.ts';
import { Fleet, type NamedStream } from './selection-fleet.ts';

const WAIT_MS = 5000;
const TIERS = ['ready', 'draining', 'suspect'] as const;
const STRATEGIES: StrategyName[] = ['destHost', 'defaultRoute', 'default'];
const IDENTIFIERS = ['', 'host=x', 'host=x&host=y&default-route=true', 'host=y&host=Y'];
const RUNS = 150;
const OPERATIONS_PER_RUN = 80;

/** What the naive model knows of a stream: nothing but its own marks, in the order of registration. */
interface Plain {
  readonly stream: NamedStream;
  readonly bornMs: number;
  draining: boolean;
  suspect: boolean;
  announced: boolean;
}

type Tier = (typeof TIERS)[number];

/** Does the whole computation anew each time, with lists and filters. */
class Model {
  streams: Plain[] = [];
  nowMs = 0;

  register(stream: NamedStream): void {
    const draining = this.streams.some((other) => other.draining && sameRun(other.stream, stream));
    this.streams.push({ stream, bornMs: this.nowMs, draining, suspect: false, announced: false });
  }

  drain(plain: Plain): void {
    for (const other of this.streams.slice(this.streams.indexOf(plain))) {
      if (other === plain || sameRun(other.stream, plain.stream)) other.draining = true;
    }
  }

  /** For each agent ID of a pool its tier and the stream that a dial takes, those passed over left out. */
  pool(strategy: StrategyName, host: string, passedOver: readonly NamedStream[] = []) {
    const here = this.streams.filter(({ stream }) => serves(stream, strategy, host));
    const result: { agentId: string; tier: Tier | 'waiting'; name: string }[] = [];
    for (const agentId of new Set(here.map(({ stream }) => stream.agentId))) {
      const own = here.filter(({ stream }) => stream.agentId === agentId);
      const usable = own.filter((plain) => this.#mayBeChosen(plain, own));
      const left = usable.filter(({ stream }) => !passedOver.includes(stream));
      const tier = TIERS.find((name) => left.some((plain) => tierOf(plain) === name));
      const best = left.find((plain) => tierOf(plain) === tier);
      result.push({ agentId, tier: tier ?? 'waiting', name: best?.stream.name ?? '' });
    }
    return result;
  }

  /** The names among which a dial chooses. */
  choices(host: string, passedOver: readonly NamedStream[]): string[] {
    for (const tier of TIERS) {
      for (const strategy of STRATEGIES) {
        const names = this.pool(strategy, host, passedOver).filter((one) => one.tier === tier);
        if (names.length > 0) return names.map((one) => one.name);
      }
    }
    return [];
  }

  #mayBeChosen(plain: Plain, own: readonly Plain[]): boolean {
    if (plain.stream.instance !== undefined) return plain.announced;
    if (this.nowMs - plain.bornMs >= WAIT_MS) return true;
    const older = own.slice(0, own.indexOf(plain));
    return !older.some((other) => !other.suspect && this.#mayBeChosen(other, own));
  }
}

function tierOf(plain: Plain): Tier {
  return plain.suspect ? 'suspect' : plain.draining ? 'draining' : 'ready';
}

function sameRun(a: NamedStream, b: NamedStream): boolean {
  return a.agentId === b.agentId && a.instance !== undefined && a.instance === b.instance;
}

function serves(stream: NamedStream, strategy: StrategyName, host: string): boolean {
  if (strategy === 'default') return true;
  if (strategy === 'defaultRoute') return stream.identifiers.defaultRoute;
  return stream.identifiers.host.some((own) => own.toLowerCase() === host);
}

const operation = fc.record({
  kind: fc.constantFrom(
    'register',
    'register',
    'remove',
    'drain',
    'undrain',
    'suspect',
    'answer',
    'status',
    'wait',
  ),
  agent: fc.constantFrom('a', 'b', 'c', 'd'),
  instance: fc.constantFrom(undefined, 'run-1', 'run-2'),
  identifiers: fc.constantFrom(...IDENTIFIERS),
  target: fc.nat(1000),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

let operations = 0;

it('random operations keep the sets and a plain model equal', () => {
  const script = fc.array(operation, { minLength: OPERATIONS_PER_RUN, maxLength: OPERATIONS_PER_RUN * 2 });
  fc.assert(fc.property(script, play), { numRuns: RUNS });
  assert.ok(operations >= 10_000, `${operations} operations`);
});

function play(script: readonly Operation[]): void {
  const fleet = new Fleet(STRATEGIES);
  const model = new Model();
  const hadReady = new Map<string, boolean>();
  for (const step of script) {
    operations++;
    fleet.told.length = 0;
    apply(step, fleet, model);
    comparePools(fleet, model);
    compareTold(fleet, model, hadReady);
    compareChoice(fleet, model, step.target);
  }
}

function apply(step: Operation, fleet: Fleet, model: Model): void {
  const plain = model.streams[step.target % Math.max(1, model.streams.length)];
  if (step.kind === 'register') {
    const { agent, instance, identifiers } = step;
    model.register(
      instance === undefined ? fleet.go(agent, identifiers) : fleet.ours(agent, instance, identifiers),
    );
  } else if (step.kind === 'wait') {
    fleet.nowMs += step.target * 5;
    model.nowMs = fleet.nowMs;
    fleet.registry.advance();
  } else if (plain !== undefined) {
    const { stream } = plain;
    switch (step.kind) {
      case 'remove':
        model.streams = model.streams.filter((other) => other !== plain);
        fleet.registry.remove(stream);
        break;
      case 'drain':
        model.drain(plain);
        fleet.registry.markDraining(stream);
        break;
      case 'undrain':
        plain.draining = false;
        fleet.registry.clearDraining(stream);
        break;
      case 'suspect':
      case 'answer':
        plain.suspect = step.kind === 'suspect';
        fleet.registry.markSuspect(stream, plain.suspect);
        break;
      case 'status':
        plain.announced = true;
        fleet.registry.markChoosable(stream);
        break;
    }
  }
}

function comparePools(fleet: Fleet, model: Model): void {
  for (const strategy of fleet.registry.strategies) {
    const hosts = strategy.name === 'destHost' ? ['x', 'y'] : [''];
    for (const host of hosts) {
      const expected = model.pool(strategy.name, host);
      const pool = strategy.poolFor(`${host}:1`);
      const actual = [];
      for (const tier of [...TIERS, 'waiting'] as const) {
        const set = pool?.[tier];
        for (let i = 0; i < (set?.size ?? 0); i++) {
          const stream = set?.streamAt(i) as NamedStream | undefined;
          actual.push({ agentId: set?.memberAt(i).agentId, tier, name: stream?.name ?? '' });
        }
      }
      assert.deepEqual(sorted(actual), sorted(expected));
    }
    const served = hosts.filter((host) => model.pool(strategy.name, host).length > 0);
    if (strategy.name === 'destHost')
      assert.deepEqual([...strategy.pools()].map((p) => p.key).sort(), served);
  }
}

function compareTold(fleet: Fleet, model: Model, hadReady: Map<string, boolean>): void {
  const expected: string[] = [];
  const turn = (name: string, ready: boolean): void => {
    const before = hadReady.get(name);
    if (before !== undefined && before !== ready) {
      expected.push(`${name} ${ready ? 'ready again' : 'out of ready'}`);
    }
    // What was never ready cannot lose it.
    if (before !== undefined || ready) hadReady.set(name, ready);
  };
  let any = false;
  for (const [strategy, host] of [
    ...STRATEGIES.map((name) => [name, ''] as const),
    ['destHost', 'x'],
    ['destHost', 'y'],
  ] as const) {
    if (strategy === 'destHost' && host === '') continue;
    const ready = model.pool(strategy, host).some((one) => one.tier === 'ready');
    any ||= ready;
    turn(`${strategy}/${host}`, ready);
  }
  turn('all', any);
  assert.deepEqual([...fleet.told].sort(), expected.sort());
}

function compareChoice(fleet: Fleet, model: Model, target: number): void {
  const host = ['x', 'y', 'z'][target % 3] as string;
  for (const exclude of [[], pickSome(model.streams, target)]) {
    const choices = model.choices(host, exclude);
    const selection = fleet.selector.select(`${host.toUpperCase()}.:1`, exclude);
    if (choices.length === 0) assert.equal(selection.stream, undefined);
    else assert.ok(selection.stream !== undefined && choices.includes(selection.stream.name));
  }
}

function pickSome(streams: readonly Plain[], target: number): NamedStream[] {
  return streams.filter((_, i) => (target >> (i % 10)) % 2 === 1).map(({ stream }) => stream);
}

function sorted<T>(items: readonly T[]): string[] {
  return items.map((item) => JSON.stringify(item)).sort();
}
