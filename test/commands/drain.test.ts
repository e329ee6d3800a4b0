import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DrainFlags } from '../../src/commands/drain/drain-flags.ts';
import { drain } from '../../src/commands/drain.ts';
import type { OperatorTimes } from '../../src/commands/operator.ts';
import type { DrainRequest } from '../../src/proxy/admin/model/order.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { adminOrder } from '../peers/admin-agent.ts';
import { FakeFleet } from '../peers/fake-fleet.ts';
import { OperatorIo } from '../peers/operator-io.ts';

type Flags = Partial<DrainFlags>;

class Case {
  readonly io: OperatorIo;
  readonly fleet: FakeFleet;
  readonly code: Promise<number>;

  constructor(
    fleet: FakeFleet,
    names: string[],
    flags: Flags = {},
    options: { terminal?: boolean; answer?: string; times?: Partial<OperatorTimes> } = {},
  ) {
    this.fleet = fleet;
    this.io = new OperatorIo({ terminal: options.terminal === true });
    if (options.answer !== undefined) this.io.stdin.write(options.answer);
    this.code = drain(names, { wait: true, ...flags }, this.io, fleet.tools(options.times));
  }

  /** Drain requests that change something, at a server. */
  applied(server = this.fleet.first): DrainRequest[] {
    return server.asked<DrainRequest>('drain').filter((request) => request.validateOnly !== true);
  }
}

function fleetOf(...serverIds: string[]): FakeFleet {
  const fleet = new FakeFleet(...(serverIds.length === 0 ? ['cp-1'] : serverIds));
  for (const id of ['node-a', 'node-b', 'node-c']) fleet.agent(id);
  return fleet;
}

describe('drain', () => {
  it('places an order, waits for the last tunnel, and ends with 0', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b'], { reason: 'kernel patch' });
    await run.io.written('node-b: draining, 1 tunnel left');
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
    assert.equal(run.io.out, 'node-b: drained on its server; safe to stop\n');
    assert.equal(run.applied()[0]?.reason, 'kernel patch');
    assert.equal(fleet.first.stored.get('node-b')?.id.length, 10);
  });

  it('ends at once when nothing is left', async () => {
    assert.equal(await new Case(fleetOf(), ['node-b']).code, 0);
  });

  it('names the five oldest tunnels, and where the others are listed', async () => {
    const fleet = fleetOf();
    for (let age = 1; age <= 12; age++) {
      fleet.tunnel('node-b', { ageSeconds: age * 60, destination: `10.0.0.${age}:10250` });
    }
    const run = new Case(fleet, ['node-b'], { admin: 'unix:///a b.sock' });
    await run.io.written('+7 more');
    const lines = run.io.said.split('\n');
    const start = lines.indexOf('node-b: draining, 12 tunnels left');
    assert.deepEqual(lines.slice(start + 1, start + 7), [
      '  10.0.0.12:10250, 12m old, last byte 3s ago, 11 kB/s',
      '  10.0.0.11:10250, 11m old, last byte 3s ago, 11 kB/s',
      '  10.0.0.10:10250, 10m old, last byte 3s ago, 11 kB/s',
      '  10.0.0.9:10250, 9m old, last byte 3s ago, 11 kB/s',
      '  10.0.0.8:10250, 8m old, last byte 3s ago, 11 kB/s',
      "  +7 more: konnectivity-ts tunnels --agent node-b --admin 'unix:///a b.sock'",
    ]);
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
  });

  it('without options changes nothing of an order, and says whose it is', async () => {
    const fleet = fleetOf();
    fleet.first.stored.set('node-b', adminOrder('node-b'));
    const run = new Case(fleet, ['node-b']);
    assert.equal(await run.code, 0);
    assert.match(
      run.io.said,
      /node-b: nothing was changed, it is under order order7f3 by alice@example \(claimed\) .* ago: kernel patch/,
    );
    assert.equal(run.applied()[0]?.orderIds?.['node-b'], 'order7f3');
  });

  it('with options updates an order, and says what it was before', async () => {
    const fleet = fleetOf();
    fleet.first.stored.set('node-b', adminOrder('node-b'));
    const run = new Case(fleet, ['node-b'], { reason: 'disk', until: 'restart' });
    assert.equal(await run.code, 0);
    assert.match(
      run.io.said,
      /order order7f3 was changed: reason "kernel patch" -> "disk", until undrain -> restart/,
    );
  });

  it('stops waiting at --timeout with 4, and says how to go on and how to undo', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b'], { timeout: '5ms' });
    assert.equal(await run.code, 4);
    assert.equal(run.io.out, 'node-b: still draining after 5ms, 1 tunnel left\n');
    assert.match(run.io.said, /watch it again: konnectivity-ts drain node-b --monitor\n/);
    assert.match(run.io.said, /undo it: konnectivity-ts undrain node-b\n/);
    assert.ok(fleet.first.stored.has('node-b'));
  });

  it('stops watching at Ctrl-C with 130, and the order stays', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('1 tunnel left');
    run.io.interrupt.abort();
    assert.equal(await run.code, 130);
    assert.match(run.io.said, /undo it: konnectivity-ts undrain node-b\n/);
    assert.ok(fleet.first.stored.has('node-b'));
  });

  it('does not wait with --no-wait', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b'], { wait: false });
    assert.equal(await run.code, 0);
    assert.ok(fleet.first.stored.has('node-b'));
    assert.equal(run.io.out, '');
  });

  it('ends with 8 and the count when the agent leaves with tunnels', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('2 tunnels left');
    fleet.lose('node-b');
    assert.equal(await run.code, 8);
    assert.equal(run.io.out, 'node-b: left; 2 tunnels were cut\n');
  });

  it('ends with 8 when the agent breaks its connections off before it goes', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('1 tunnel left');
    const agent = fleet.agents.get('node-b');
    assert.ok(agent);
    agent.servers = [];
    fleet.endTunnels('node-b', 'endpoint-lost');
    assert.equal(await run.code, 8);
  });

  it('ends with 0 when the agent leaves and nothing was cut', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('1 tunnel left');
    const agent = fleet.agents.get('node-b');
    assert.ok(agent);
    agent.servers = [];
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
    assert.equal(run.io.out, 'node-b: left\n');
  });

  it('does not count what was cut before it began', async () => {
    const fleet = fleetOf();
    fleet.remember(fleet.tunnel('node-b'), 'agent-lost');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('1 tunnel left');
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
  });

  it('counts what is cut as soon as the order is placed', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('draining is ordered');
    fleet.lose('node-b');
    assert.equal(await run.code, 8);
    assert.equal(run.io.out, 'node-b: left; 1 tunnel was cut\n');
  });

  it('ends with 1 when somebody else ends the order', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('1 tunnel left');
    await fleet.first.undrain({ agentIds: ['node-b'] }, new AbortController().signal);
    assert.equal(await run.code, 1);
    assert.equal(run.io.out, 'node-b: no longer draining: somebody ended the order\n');
  });

  it('ends when the agent was replaced, for an order until restart', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b'], { until: 'restart' });
    await run.io.written('1 tunnel left');
    const agent = fleet.agents.get('node-b');
    assert.ok(agent);
    fleet.first.stored.clear();
    delete agent.order;
    agent.instance = 'node-b-2';
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
    assert.equal(run.io.out, 'node-b: left\n');
  });

  it('of an agent that is not connected says that the order waits', async () => {
    const fleet = fleetOf();
    fleet.agent('node-d', { servers: [] });
    const run = new Case(fleet, ['node-d']);
    assert.equal(await run.code, 0);
    assert.equal(run.io.out, 'node-d: not connected; the order waits for it\n');
  });

  it('is refused with 6 when a destination would be left alone, and says how to insist', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    const run = new Case(fleet, ['node-a'], { reason: "it's time" });
    assert.equal(await run.code, 6);
    assert.match(run.io.said, /would leave any destination at cp-1 with draining agents alone/);
    assert.match(
      run.io.said,
      /nothing was changed\ndrain all the same: konnectivity-ts drain node-a --reason 'it'\\''s time' --force\n$/,
    );
    assert.deepEqual(run.applied(), []);
    assert.equal(await new Case(fleet, ['node-a'], { force: true }).code, 0);
  });

  it('ends with 5 when it may not, and nothing changed', async () => {
    const fleet = fleetOf();
    fleet.first.role = 'viewer';
    const run = new Case(fleet, ['node-b']);
    assert.equal(await run.code, 5);
    assert.equal(fleet.first.stored.size, 0);
  });

  it('names the server of each refusal when there are several', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    for (const server of fleet.servers) server.role = 'viewer';
    const run = new Case(fleet, ['node-b']);
    assert.equal(await run.code, 5);
    assert.match(run.io.said, /konnectivity-ts: cp-1: viewers .*\nkonnectivity-ts: cp-2: viewers .*\n/);
  });

  it('with --dry-run says what would finish, who takes over and which command does it', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b', { idleSeconds: 700 });
    fleet.tunnel('node-b', { ageSeconds: 10 });
    const run = new Case(fleet, ['node-b'], { dryRun: true, closeQuiet: '10m', reason: 'disk' });
    assert.equal(await run.code, 0);
    assert.deepEqual(run.io.lines, [
      'node-b: would be drained; 2 tunnels finish here',
      '  10.0.1.18:10250, 41m old, last byte 11m ago, 11 kB/s',
      '  10.0.1.18:10250, 10s old, last byte 3s ago, 11 kB/s',
      '  new dials: any destination -> 2 ready agents',
      '  --close-quiet would close 10.0.1.18:10250, without a byte for 11m',
    ]);
    assert.match(run.io.said, /to do it: konnectivity-ts drain node-b --reason disk --close-quiet 10m\n/);
    assert.equal(fleet.first.stored.size, 0);
  });

  it('with --close-quiet closes what has been silent for that long, and nothing else', async () => {
    const fleet = fleetOf();
    const quiet = fleet.tunnel('node-b', { idleSeconds: 700, destination: 'quiet:1' });
    const busy = fleet.tunnel('node-b', { idleSeconds: 1, destination: 'busy:1' });
    const run = new Case(fleet, ['node-b'], { closeQuiet: '10m' });
    await run.io.written('closed quiet:1');
    assert.deepEqual(fleet.agents.get('node-b')?.tunnels, [busy]);
    assert.deepEqual(
      fleet.first.ended.map(({ id, closeReason }) => [id, closeReason]),
      [[quiet.id, 'closed-by-operator']],
    );
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
  });

  it('with -o json prints an object for each change, the last one final', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b'], { output: 'json' });
    await run.io.written('"tunnels":1');
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
    const objects = run.io.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      objects.map(({ agent, state, tunnels, final, exitCode }) => [agent, state, tunnels, final, exitCode]),
      [
        ['node-b', 'draining', 1, false, undefined],
        ['node-b', 'drained', 0, true, 0],
      ],
    );
    assert.equal((objects[0] as { order: { since: string } }).order.since, '2026-01-01T11:48:00.000Z');
  });

  it('with --monitor watches a drain and changes nothing', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    fleet.first.stored.set('node-b', adminOrder('node-b'));
    const run = new Case(fleet, ['node-b'], { monitor: true });
    await run.io.written('1 tunnel left');
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
    assert.deepEqual(fleet.first.asked('drain'), []);
    const ready = new Case(fleet, ['node-a'], { monitor: true });
    assert.equal(await ready.code, 1);
    assert.match(
      ready.io.said,
      /node-a is ready, and not under an order; drain it: konnectivity-ts drain node-a/,
    );
  });

  for (const [flags, problem] of [
    [{ timeout: '5' }, /--timeout 5 has no unit/],
    [{ timeout: '-5s' }, /--timeout -5s leaves no time/],
    [{ monitor: true, reason: 'x' }, /--monitor changes nothing, and --reason is given/],
    [{ wait: false, timeout: '5s' }, /--timeout is given with --no-wait/],
    [{ atDeadline: 'close' }, /--at-deadline is given, and there is no deadline; add --deadline/],
  ] as const) {
    it(`refuses ${JSON.stringify(flags)} with 2`, async () => {
      const run = new Case(fleetOf(), ['node-b'], flags as Flags);
      assert.equal(await run.code, 2);
      assert.match(run.io.said, problem);
      assert.equal(run.applied().length, 0);
    });
  }
});

describe('what drain asks', () => {
  it('one exact ID is never asked back', async () => {
    const run = new Case(fleetOf(), ['node-b'], {}, { terminal: true });
    assert.equal(await run.code, 0);
    assert.doesNotMatch(run.io.said, /\[y\/N\]/);
  });

  for (const [answer, code] of [
    ['y\n', 0],
    ['n\n', 1],
    ['\n', 1],
  ] as const) {
    it(`the beginning of an ID is asked back on a terminal; ${JSON.stringify(answer)} ends with ${code}`, async () => {
      const fleet = fleetOf();
      fleet.agent('other-1');
      const run = new Case(fleet, ['oth'], {}, { terminal: true, answer });
      assert.equal(await run.code, code);
      assert.match(run.io.said, /Drain other-1\? \[y\/N\] /);
      assert.equal(fleet.first.stored.has('other-1'), code === 0);
    });
  }

  it('the beginning of an ID is no name where nobody can be asked', async () => {
    const fleet = fleetOf();
    fleet.agent('other-1');
    const run = new Case(fleet, ['oth'], { yes: true });
    assert.equal(await run.code, 3);
    assert.match(run.io.said, /there is no agent oth; did you mean other-1\? Give the whole ID/);
  });

  it('the beginning of an ID is no name while a server does not answer', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    fleet.agent('other-1');
    fleet.servers[1]?.down();
    const run = new Case(fleet, ['oth'], { allowPartial: true }, { terminal: true, answer: 'y\n' });
    assert.equal(await run.code, 3);
  });

  it('the beginning of several IDs is ambiguous', async () => {
    const run = new Case(fleetOf(), ['node'], {}, { terminal: true });
    assert.equal(await run.code, 3);
    assert.match(run.io.said, /node is the beginning of 3 IDs; did you mean node-a, node-b, node-c\?/);
  });

  it('a mistyped ID gets the nearest one proposed', async () => {
    const run = new Case(fleetOf(), ['nodde-b']);
    assert.equal(await run.code, 3);
    assert.match(
      run.io.said,
      /there is no agent nodde-b; did you mean node-b\? List them: konnectivity-ts agents/,
    );
  });

  it('several agents and --at-deadline close are a usage error without a terminal and --yes, not a hang', async () => {
    for (const [names, flags] of [
      [['node-a', 'node-b'], {}],
      [['node-a'], { deadline: '1h', atDeadline: 'close' }],
    ] as const) {
      const fleet = fleetOf();
      const run = new Case(fleet, [...names], flags);
      assert.equal(await run.code, 2);
      assert.match(run.io.said, /asks first, and there is no terminal; add --yes/);
      assert.equal(fleet.first.stored.size, 0);
      assert.equal(await new Case(fleet, [...names], { ...flags, yes: true }).code, 0);
    }
  });

  it('an identifier names its agent', async () => {
    const fleet = fleetOf();
    const run = new Case(fleet, ['host=NODE-B.example']);
    assert.equal(await run.code, 0);
    assert.ok(fleet.first.stored.has('node-b'));
    assert.equal(await new Case(fleet, ['host=nobody']).code, 3);
    fleet.agent('twin', { more: { identifiers: [{ kind: 'host', value: 'node-b.example' }] } });
    const twice = new Case(fleet, ['host=node-b.example']);
    assert.equal(await twice.code, 3);
    assert.match(twice.io.said, /2 agents have host=node-b\.example: node-b, twin; give their IDs/);
  });

  it('nothing is changed by Ctrl-C at the question', async () => {
    const fleet = fleetOf();
    const run = new Case(fleet, ['node-a', 'node-b'], {}, { terminal: true });
    await run.io.written('[y/N]');
    run.io.interrupt.abort();
    assert.equal(await run.code, 130);
    assert.equal(fleet.first.stored.size, 0);
    // What the terminal shows of Ctrl-C stands between the two.
    assert.match(run.io.said, /\[y\/N\] \nnothing was changed\n$/);
  });

  it('nothing is changed by Ctrl-C while a server does not answer', async () => {
    const fleet = fleetOf();
    const hold = fleet.first.hold('drain');
    const run = new Case(fleet, ['node-a'], {}, { times: { answerMs: 60_000 } });
    await hold.asked;
    run.io.interrupt.abort();
    assert.equal(await run.code, 130);
    assert.equal(run.io.said, 'nothing was changed\n');
  });

  it('Ctrl-C while an order is sent does not say that nothing was changed', async () => {
    const fleet = fleetOf();
    const run = new Case(fleet, ['node-a', 'node-b'], {}, { terminal: true, times: { answerMs: 60_000 } });
    await run.io.written('[y/N]');
    const hold = fleet.first.hold('drain');
    run.io.stdin.write('y\n');
    await hold.asked;
    run.io.interrupt.abort();
    assert.equal(await run.code, 130);
    assert.match(run.io.said, /interrupted while it was sent: .*; see konnectivity-ts events --since 1m\n$/);
  });

  it('the end of the input is a no, on a line of its own', async () => {
    const fleet = fleetOf();
    const run = new Case(fleet, ['node-a', 'node-b'], {}, { terminal: true });
    await run.io.written('[y/N]');
    run.io.stdin.end();
    assert.equal(await run.code, 1);
    assert.match(run.io.said, /\[y\/N\] \nnothing was changed\n$/);
  });

  it('says of one tunnel that it finishes', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b'], { dryRun: true });
    await run.code;
    assert.match(run.io.out, /^node-b: would be drained; 1 tunnel finishes here\n/);
  });
});

describe('drain of several agents', () => {
  it('ends with the worst of their exit codes, one line each', async () => {
    const fleet = fleetOf();
    fleet.agent('node-d');
    fleet.tunnel('node-a');
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-a', 'node-b', 'node-c'], { yes: true, timeout: '300ms' });
    await run.io.written('node-a: draining');
    await run.io.written('node-b: draining');
    fleet.lose('node-a');
    assert.equal(await run.code, 8);
    assert.deepEqual(run.io.lines.map((line) => line.split(';')[0]).sort(), [
      'node-a: left',
      'node-b: still draining after 300ms, 1 tunnel left',
      'node-c: drained on its server',
    ]);
  });
});

describe('drain at several servers', () => {
  it('places the same order everywhere, after all have agreed', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    const run = new Case(fleet, ['node-b']);
    assert.equal(await run.code, 0);
    assert.equal(run.io.out, 'node-b: drained on all its 2 servers; safe to stop\n');
    const ids = fleet.servers.map((server) => run.applied(server)[0]?.orderIds?.['node-b']);
    assert.equal(ids[0], ids[1]);
    assert.match(run.io.said, /node-b: draining is ordered/);
  });

  it('changes nothing when one refuses', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    for (const id of ['node-a', 'node-c']) {
      const agent = fleet.agents.get(id);
      assert.ok(agent);
      agent.servers = ['cp-1'];
    }
    const run = new Case(fleet, ['node-b']);
    assert.equal(await run.code, 6);
    assert.match(run.io.said, /cp-2: it would leave any destination at cp-2/);
    assert.deepEqual(
      fleet.servers.map((server) => server.stored.size),
      [0, 0],
    );
  });

  for (const health of ['down', 'silent'] as const) {
    it(`changes nothing when one is ${health}, and ends with 5`, async () => {
      const fleet = fleetOf('cp-1', 'cp-2');
      const second = fleet.servers[1];
      assert.ok(second);
      second.health = health;
      const run = new Case(fleet, ['node-b']);
      assert.equal(await run.code, 5);
      assert.match(
        run.io.said,
        /nothing was changed; try again, or go on without that server: konnectivity-ts drain node-b --allow-partial\n/,
      );
      assert.deepEqual(
        fleet.servers.map((server) => server.stored.size),
        [0, 0],
      );
    });
  }

  it('with --allow-partial goes on, and tells the server that was away when it answers', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    fleet.tunnel('node-b');
    const second = fleet.servers[1];
    assert.ok(second);
    second.health = 'down';
    const run = new Case(fleet, ['node-b'], { allowPartial: true });
    await run.io.written('1 tunnel left');
    second.health = 'up';
    await run.io.written('was placed there');
    assert.equal(second.stored.get('node-b')?.id, fleet.first.stored.get('node-b')?.id);
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
  });

  it('with --allow-partial of a Go agent ends with 7 when a server was never told', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    fleet.agent('node-g', { kind: 'go' });
    const second = fleet.servers[1];
    assert.ok(second);
    second.health = 'down';
    const run = new Case(fleet, ['node-g'], { allowPartial: true });
    assert.equal(await run.code, 7);
    assert.match(run.io.out, /node-g: drained here, 1 of 2 servers asked/);
  });

  it('of a Go agent says how many servers were asked', async () => {
    const fleet = fleetOf('cp-1');
    fleet.serverCount = 3;
    fleet.agent('node-g', { kind: 'go' });
    const run = new Case(fleet, ['node-g']);
    assert.equal(await run.code, 0);
    assert.match(run.io.out, /^node-g: drained here, 1 of 3 servers asked/);
    assert.match(
      run.io.said,
      /node-g: a Go agent cannot be told: only the servers that were asked keep the order/,
    );
  });

  it('of a Go agent on all servers waits for all of them', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    fleet.agent('node-g', { kind: 'go' });
    fleet.tunnel('node-g', { serverId: 'cp-2' });
    const run = new Case(fleet, ['node-g']);
    await run.io.written('1 tunnel left');
    fleet.endTunnels('node-g');
    assert.equal(await run.code, 0);
    assert.match(run.io.out, /^node-g: drained on all 2 servers; safe to stop/);
  });

  it('a refusal of the second phase is partial, and says how to undo', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    const second = fleet.servers[1];
    assert.ok(second);
    second.nextRefusal = new Fault('admin-refused', 'somebody was faster');
    const run = new Case(fleet, ['node-b']);
    assert.equal(await run.code, 7);
    assert.match(run.io.said, /cp-2 did not take it: somebody was faster/);
    assert.match(run.io.said, /undo it there: konnectivity-ts undrain node-b --allow-partial/);
  });

  it('asks the server with the least ID first, in whatever order they are named, and stops at its refusal', async () => {
    const fleet = fleetOf('cp-2', 'cp-1');
    const [later, first] = fleet.servers;
    assert.ok(later && first);
    first.nextRefusal = new Fault('admin-refused', 'somebody was faster');
    const run = new Case(fleet, ['node-b']);
    assert.equal(await run.code, 6);
    assert.match(
      run.io.said,
      /cp-1: somebody was faster\nnothing was changed\ndrain all the same: .* --force/,
    );
    assert.deepEqual(run.applied(later), []);
  });
});

describe('drain and what servers say one after the other', () => {
  /** Enough for everything to be looked at that is there. */
  const looks = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('tells nothing before all of them said something', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    fleet.tunnel('node-b');
    const [, second] = fleet.servers;
    const hold = second?.hold('watchAgents');
    const run = new Case(fleet, ['node-b'], {}, { times: { answerMs: 60_000 } });
    await hold?.asked;
    await looks();
    hold?.release();
    await run.io.written('node-b: draining');
    await run.io.written('1 tunnel left on 2 servers');
    assert.doesNotMatch(run.io.said, /partial/);
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
  });

  it('counts each cut tunnel once, though one server loses the agent before another', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    fleet.tunnel('node-b');
    fleet.tunnel('node-b', { serverId: 'cp-2' });
    const run = new Case(fleet, ['node-b']);
    await run.io.written('2 tunnels left on 2 servers');
    const agent = fleet.agents.get('node-b');
    assert.ok(agent);
    agent.servers = ['cp-2'];
    fleet.changed();
    await looks();
    fleet.lose('node-b');
    assert.equal(await run.code, 8);
    assert.equal(run.io.out, 'node-b: left; 2 tunnels were cut\n');
  });

  it('waits a moment for a server that has yet to agree', async () => {
    const fleet = fleetOf('cp-1', 'cp-2');
    const more = { conditions: ['partial' as const], safeToStop: false, replacements: 0 };
    fleet.agent('node-b', { more });
    const run = new Case(fleet, ['node-b'], {}, { times: { settleMs: 60_000 } });
    await run.io.written('draining is ordered');
    await looks();
    Object.assign(more, { conditions: [], safeToStop: true });
    fleet.changed();
    assert.equal(await run.code, 0);
    assert.equal(run.io.out, 'node-b: drained on all its 2 servers; safe to stop\n');
  });

  it('says when the agent was told to stop meanwhile', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('1 tunnel left');
    const agent = fleet.agents.get('node-b');
    assert.ok(agent);
    agent.leavingSince = new Date();
    fleet.changed();
    await run.io.written('node-b: draining (leaving), 1 tunnel left');
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
  });
});

describe('drain and a server that restarts', () => {
  it('places the order again with the same ID, and says so', async () => {
    const fleet = fleetOf();
    const agent = fleet.agent('node-g', { kind: 'go' });
    fleet.tunnel('node-g');
    const run = new Case(fleet, ['node-g'], { reason: 'disk', deadline: '1h' });
    await run.io.written('1 tunnel left');
    const id = fleet.first.stored.get('node-g')?.id;
    fleet.first.restart();
    await run.io.written('cp-1 was restarted');
    await run.io.written(`cp-1: order ${id} of node-g was placed there`);
    assert.equal(fleet.first.stored.get('node-g')?.id, id);
    assert.equal(fleet.first.stored.get('node-g')?.reason, 'disk');
    assert.ok(agent);
    fleet.endTunnels('node-g');
    assert.equal(await run.code, 0);
  });

  it('says nothing of it when the server kept the order', async () => {
    const fleet = fleetOf();
    fleet.first.keepsOrders = true;
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('1 tunnel left');
    fleet.first.restart();
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
    assert.doesNotMatch(run.io.said, /placed there/);
  });

  it('goes on after a loss of the connection', async () => {
    const fleet = fleetOf();
    fleet.tunnel('node-b');
    const run = new Case(fleet, ['node-b']);
    await run.io.written('1 tunnel left');
    fleet.first.down();
    await run.io.written('trying again');
    fleet.first.health = 'up';
    fleet.endTunnels('node-b');
    assert.equal(await run.code, 0);
  });
});
