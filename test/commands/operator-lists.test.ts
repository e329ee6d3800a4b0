import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agents } from '../../src/commands/agents.ts';
import { close } from '../../src/commands/close.ts';
import { drains } from '../../src/commands/drains.ts';
import { events } from '../../src/commands/events.ts';
import type { CommandIo } from '../../src/commands/io.ts';
import type { OperatorTimes, OperatorTools } from '../../src/commands/operator.ts';
import { select } from '../../src/commands/select.ts';
import { tunnels } from '../../src/commands/tunnels.ts';
import { undrain } from '../../src/commands/undrain.ts';
import { why } from '../../src/commands/why.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { adminOrder, minutesAgo, NOW } from '../peers/admin-agent.ts';
import { FakeFleet } from '../peers/fake-fleet.ts';
import { OperatorIo } from '../peers/operator-io.ts';

/** Tools with the clock where the scripted data has it. */
function toolsOf(fleet: FakeFleet, times: Partial<OperatorTimes> = {}): OperatorTools {
  const tools = fleet.tools(times);
  return { ...tools, clock: { ...tools.clock, wallMs: () => NOW.getTime() } };
}

type Run<Flags> = (flags: Flags, io: CommandIo, tools: OperatorTools) => Promise<number>;

async function outcome<Flags>(run: Run<Flags>, fleet: FakeFleet, flags: Flags) {
  const io = new OperatorIo();
  const code = await run(flags, io, toolsOf(fleet));
  return { code, lines: io.lines, out: io.out, said: io.said };
}

/** The cells of each line. */
function cells(lines: readonly string[]): string[][] {
  return lines.map((line) => line.split(/ {2,}/));
}

describe('agents', () => {
  it('are a table, in the order of their IDs', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-b');
    fleet.agent('node-a', { more: { conditions: ['late', 'slow'], oldestTunnelSince: minutesAgo(41) } });
    fleet.first.stored.set('node-b', adminOrder('node-b'));
    fleet.tunnel('node-b');
    const { code, lines } = await outcome(agents, fleet, {});
    assert.equal(code, 0);
    assert.deepEqual(cells(lines), [
      ['AGENT', 'STATE', 'CONDITIONS', 'SERVERS', 'SERVES', 'TUNNELS', 'OLDEST', 'PENDING', 'WHY'],
      ['node-a', 'ready', 'late,slow', '1/1', 'host=node-a.example', '0', '41m', '0', '-'],
      [
        'node-b',
        'draining',
        '-',
        '1/1',
        'host=node-b.example',
        '1',
        '-',
        '0',
        'order order7f3 by alice@example (claimed) 12m ago: kernel patch',
      ],
    ]);
  });

  it('with -o wide show streams with addresses, and reconnects', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a', { more: { reconnects: 4 } });
    const { lines } = await outcome(agents, fleet, { output: 'wide' });
    const row = lines[1] ?? '';
    assert.match(row, / 8 +cp-1 10\.0\.0\.4:40112 3h00m, cp-2 10\.0\.0\.4:40112 3h00m/);
  });

  it('and all other tables fit an 80-column terminal, except with -o wide', async () => {
    const fleet = new FakeFleet('cp-1');
    for (const id of ['node-a', 'node-b', 'node-c']) fleet.agent(id);
    fleet.first.stored.set(
      'node-a',
      adminOrder('node-a', { deadline: minutesAgo(-5), reason: 'kernel '.repeat(9) }),
    );
    fleet.tunnel('node-a', { client: '[fd00:1234:5678:9abc::7]:40112', destination: '10.0.0.7:10250' });
    const widest = async <Flags>(run: Run<Flags>, flags: Flags): Promise<number> => {
      const io = new OperatorIo({ env: { LANG: 'C.UTF-8' } });
      Object.assign(io.stdout, { isTTY: true, columns: 80 });
      await run(flags, io, toolsOf(fleet));
      assert.ok(io.lines.length > 1);
      return Math.max(...io.lines.map((line) => line.length));
    };
    assert.ok((await widest(agents, {})) <= 80);
    assert.ok((await widest(tunnels, {})) <= 80);
    assert.ok((await widest(drains, {})) <= 80);
    assert.ok((await widest(agents, { output: 'wide' })) > 80);
    const { lines } = await outcome(agents, fleet, {});
    assert.ok(Math.max(...lines.map((line) => line.length)) > 80, 'a pipe gets all');
  });

  it('with -o name are their IDs, and with -o json the array that scripts rely on', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a', { more: { bufferedBytes: 2 ** 40 } });
    fleet.first.stored.set('node-a', adminOrder('node-a', { deadline: minutesAgo(-5) }));
    assert.equal((await outcome(agents, fleet, { output: 'name' })).out, 'node-a\n');
    const [agent] = JSON.parse((await outcome(agents, fleet, { output: 'json' })).out) as Record<
      string,
      unknown
    >[];
    assert.equal(agent?.bufferedBytes, '1099511627776');
    assert.equal(agent?.state, 'drained');
    assert.equal(agent?.source, 'order');
    assert.deepEqual(agent?.order, {
      id: 'order7f3',
      agentId: 'node-a',
      actor: 'alice@example',
      actorClaimed: true,
      reason: 'kernel patch',
      since: '2026-01-01T11:48:00.000Z',
      atDeadline: 'keep',
      until: 'undrain',
      acknowledged: true,
      overdue: false,
      version: 1,
      deadline: '2026-01-01T12:05:00.000Z',
    });
  });

  it('send nothing to the terminal that it would obey', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('evil\u001b[2J\u009b31m\u202e\n');
    for (const output of [undefined, 'wide', 'name', 'json'] as const) {
      const { out } = await outcome(agents, fleet, output === undefined ? {} : { output });
      assert.doesNotMatch(out.replaceAll('\n', ''), /[\u0000-\u001f\u007f-\u009f\u202e]/);
      assert.match(out, /evil\\u001b\[2J/);
    }
  });

  it('of several servers are merged; one that does not answer makes it partial, 7', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a');
    fleet.servers[1]?.down();
    const { code, said, lines } = await outcome(agents, fleet, {});
    assert.equal(code, 7);
    assert.match(said, /1 of 2 servers answered\n.*cp-2\/admin\.sock cannot be reached\n/);
    assert.equal(cells(lines)[1]?.[2], 'partial');
    fleet.first.down();
    assert.equal((await outcome(agents, fleet, {})).code, 5);
  });

  it('with -o wide say since when one is gone, and of no other', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a', { servers: [], more: { lastSeen: minutesAgo(3) } });
    fleet.agent('node-b', { more: { lastSeen: minutesAgo(3) } });
    const { lines } = await outcome(agents, fleet, { output: 'wide' });
    const [head = [], ...rows] = cells(lines);
    assert.deepEqual(
      rows.map((row) => row[head.indexOf('GONE')]),
      ['3m', '-'],
    );
  });

  it('with --watch are printed again when they change', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    const io = new OperatorIo();
    const code = agents({ watch: true }, io, toolsOf(fleet));
    await io.written('node-a  ready');
    fleet.agent('node-b');
    await io.written('node-b  ready');
    fleet.first.stored.set('node-a', adminOrder('node-a'));
    fleet.changed();
    await io.written('node-a  drained');
    io.interrupt.abort();
    assert.equal(await code, 130);
    assert.deepEqual(
      io.lines.map((line) => line.split(/ +/)[0]),
      ['AGENT', 'node-a', 'node-b', 'node-a'],
    );
  });

  it('end in silence when nobody reads any more', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    const io = new OperatorIo();
    const code = agents({ watch: true }, io, toolsOf(fleet));
    await io.written('node-a  ready');
    io.stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    assert.equal(await code, 0);
    assert.equal(io.said, '');
  });
});

describe('what is watched', () => {
  const watches: readonly (readonly [string, Run<object>])[] = [
    ['agents', (flags, io, tools) => agents({ ...flags, watch: true }, io, tools)],
    ['tunnels', (flags, io, tools) => tunnels({ ...flags, watch: true }, io, tools)],
    ['drains', (flags, io, tools) => drains({ ...flags, watch: true }, io, tools)],
    ['events', (flags, io, tools) => events({ ...flags, since: '1h', follow: true }, io, tools)],
  ];
  const fleetOf = (): FakeFleet => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a');
    fleet.tunnel('node-a', { serverId: 'cp-2' });
    fleet.servers[1]?.stored.set('node-a', adminOrder('node-a'));
    fleet.servers[1]?.event('agent-connected', 'node-a is here');
    return fleet;
  };

  for (const [name, run] of watches) {
    it(`${name}: ends with 5 and one line for each server when none ever answered`, async () => {
      const fleet = fleetOf();
      for (const server of fleet.servers) server.down();
      const io = new OperatorIo();
      assert.equal(await run({}, io, toolsOf(fleet)), 5);
      assert.equal(io.out, '');
      assert.deepEqual(io.said.match(/cp-\d\/admin\.sock cannot be reached/g)?.sort(), [
        'cp-1/admin.sock cannot be reached',
        'cp-2/admin.sock cannot be reached',
      ]);
    });

    it(`${name}: ends with 5 when a single server refuses`, async () => {
      const fleet = new FakeFleet('cp-1');
      fleet.first.refuses = new Fault('admin-denied', 'no role here');
      const io = new OperatorIo();
      assert.equal(await run({}, io, toolsOf(fleet)), 5);
      assert.equal(io.said, 'konnectivity-ts: no role here\n');
    });

    for (const health of ['down', 'silent'] as const) {
      it(`${name}: goes on without a server that is ${health}, and says so`, async () => {
        const fleet = fleetOf();
        fleet.first.health = health;
        const io = new OperatorIo();
        const code = run({}, io, toolsOf(fleet));
        await io.written('trying again');
        await io.written('node-a');
        fleet.first.health = 'up';
        await io.written('cp-1/admin.sock is back');
        io.interrupt.abort();
        assert.equal(await code, 130);
        assert.equal(io.said.match(/trying again/g)?.length, 1);
      });
    }

    it(`${name}: goes on without a server that refuses, and names it`, async () => {
      const fleet = fleetOf();
      fleet.first.refuses = new Fault('admin-denied', 'no role here');
      const io = new OperatorIo();
      const code = run({}, io, toolsOf(fleet));
      await io.written('konnectivity-ts: unix:///cp-1/admin.sock: no role here; trying again');
      await io.written('node-a');
      io.interrupt.abort();
      assert.equal(await code, 130);
    });
  }

  it('agents: the first picture is one of all servers', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a');
    const [, second] = fleet.servers;
    assert.ok(second);
    const io = new OperatorIo();
    const hold = second.hold('watchAgents');
    const code = agents({ watch: true, output: 'json' }, io, toolsOf(fleet, { answerMs: 60_000 }));
    await hold.asked;
    // The first server's is taken in by then.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    hold.release();
    await io.written(']');
    io.interrupt.abort();
    assert.equal(await code, 130);
    const [first = ''] = io.lines;
    assert.deepEqual(
      (JSON.parse(first) as { conditions: string[] }[]).map(({ conditions }) => conditions),
      [[]],
    );
  });
});

describe('output that cannot be written', () => {
  const full = (io: OperatorIo): void => {
    io.stdout.destroy(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
  };

  it('fails a command that only shows something', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    const io = new OperatorIo();
    const code = agents({ watch: true }, io, toolsOf(fleet));
    await io.written('node-a  ready');
    full(io);
    assert.equal(await code, 1);
    assert.equal(
      io.said,
      'konnectivity-ts: the output cannot be written: ENOSPC; make room where it goes, or send it elsewhere\n',
    );
  });

  it('is told, and the exit code is still that of what was done', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    fleet.first.stored.set('node-a', adminOrder('node-a'));
    const io = new OperatorIo();
    full(io);
    assert.equal(await undrain(['node-a'], {}, io, toolsOf(fleet)), 0);
    assert.deepEqual([...fleet.first.stored], []);
    await io.written('the output cannot be written: ENOSPC');
  });
});

describe('tunnels', () => {
  it('are a table, and more pages are fetched until the limit', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    for (let i = 0; i < 1_500; i++) fleet.tunnel('node-a');
    const all = await outcome(tunnels, fleet, { limit: '2000', output: 'name' });
    assert.equal(all.lines.length, 1_500);
    const some = await outcome(tunnels, fleet, { limit: '2' });
    assert.deepEqual(cells(some.lines)[1], [
      't1-node-a',
      'node-a',
      '10.0.1.18:10250',
      '10.9.9.9:4000',
      '41m',
      '3s',
      '1.0 kB',
      '2.0 MB',
      '11 kB/s',
      '0 B',
      '-',
    ]);
    assert.match(some.said, /2 of 1500 tunnels that match; see more with --limit 1500/);
  });

  it('with --closed show why they ended', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    fleet.remember(fleet.tunnel('node-a', { error: 'connection refused' }), 'dial-failed');
    const { lines } = await outcome(tunnels, fleet, { closed: true });
    assert.match(lines[1] ?? '', /dial-failed: connection refused$/);
    assert.equal((await outcome(tunnels, fleet, { closed: true, paused: true })).code, 2);
  });

  it('with -o json have int64 as text', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    fleet.tunnel('node-a', { pausedSeconds: 2 });
    const [tunnel] = JSON.parse((await outcome(tunnels, fleet, { output: 'json' })).out) as object[];
    const { id, dialId, agent, ageSeconds, bytesToNode, pausedSeconds } = tunnel as Record<string, unknown>;
    assert.deepEqual(
      { id, dialId, agent, ageSeconds, bytesToNode, pausedSeconds },
      {
        id: 't1-node-a',
        dialId: '4711',
        agent: 'node-a',
        ageSeconds: 2_460,
        bytesToNode: '1000',
        pausedSeconds: 2,
      },
    );
  });
});

describe('close', () => {
  const run = async (fleet: FakeFleet, id: string, flags: Parameters<typeof close>[1] = {}) =>
    outcome((f: Parameters<typeof close>[1], io, tools) => close(id, f, io, tools), fleet, flags);

  it('cuts the tunnel at the server that has it', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a');
    fleet.tunnel('node-a', { id: 'here', serverId: 'cp-2' });
    const { code, out } = await run(fleet, 'here', { reason: 'hangs' });
    assert.equal(code, 0);
    assert.equal(out, 'closed here: 10.9.9.9:4000 to 10.0.1.18:10250 through node-a, 41m old\n');
    assert.deepEqual(fleet.servers[1]?.asked('closeTunnel').at(-1), { id: 'here', reason: 'hangs' });
    assert.equal(fleet.agents.get('node-a')?.tunnels.length, 0);
  });

  it('with --dry-run changes nothing', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    fleet.tunnel('node-a', { id: 'here' });
    const { code, said } = await run(fleet, 'here', { dryRun: true });
    assert.equal(code, 0);
    assert.match(said, /to do it: konnectivity-ts close here\n/);
    assert.equal(fleet.agents.get('node-a')?.tunnels.length, 1);
  });

  it('and undrain say after Ctrl-C whether something was changed', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a', { order: adminOrder('node-a') });
    fleet.tunnel('node-a', { id: 'here' });
    const interrupted = async (method: string, command: (io: OperatorIo) => Promise<number>) => {
      const io = new OperatorIo();
      const hold = fleet.first.hold(method);
      const code = command(io);
      await hold.asked;
      io.interrupt.abort();
      assert.equal(await code, 130);
      return io.said;
    };
    const tools = toolsOf(fleet, { answerMs: 60_000 });
    assert.equal(
      await interrupted('closeTunnel', (io) => close('here', {}, io, tools)),
      'nothing was changed\n',
    );
    assert.equal(
      await interrupted('undrain', (io) => undrain(['node-a'], {}, io, tools)),
      'nothing was changed\n',
    );
  });

  it('of what is not there ends with 3', async () => {
    const { code, said } = await run(new FakeFleet('cp-1'), 'gone');
    assert.equal(code, 3);
    assert.match(said, /there is no tunnel gone: .*; list them: konnectivity-ts tunnels\n/);
  });
});

describe('undrain', () => {
  const run = (fleet: FakeFleet, names: string[], flags: Parameters<typeof undrain>[1] = {}) =>
    outcome((f: Parameters<typeof undrain>[1], io, tools) => undrain(names, f, io, tools), fleet, flags);

  it('ends the order, and says whose it was', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a', { order: adminOrder('node-a') });
    const { code, out } = await run(fleet, ['node-a']);
    assert.equal(code, 0);
    assert.match(out, /^node-a: ended: order order7f3 by alice@example \(claimed\) 12m ago: kernel patch\n$/);
    const again = await run(fleet, ['node-a']);
    assert.equal(again.out, 'node-a: nothing to end, it is not under an order\n');
    assert.equal(again.code, 0);
  });

  it('of an agent that was told to stop is refused with 6', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a', { leavingSince: minutesAgo(5) });
    const { code, said } = await run(fleet, ['node-a']);
    assert.equal(code, 6);
    assert.match(said, /node-a is shutting down\nnothing was changed/);
  });

  it('of several agents asks first', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a', { order: adminOrder('node-a') });
    fleet.agent('node-b', { order: adminOrder('node-b') });
    assert.equal((await run(fleet, ['node-a', 'node-b'])).code, 2);
    assert.equal((await run(fleet, ['node-a', 'node-b'], { yes: true })).code, 0);
  });

  it('changes nothing while a server is away, unless that is allowed', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a', { order: adminOrder('node-a') });
    fleet.servers[1]?.down();
    assert.equal((await run(fleet, ['node-a'])).code, 5);
    assert.ok(fleet.agents.get('node-a')?.order);
    assert.equal((await run(fleet, ['node-a'], { allowPartial: true })).code, 7);
    assert.equal(fleet.agents.get('node-a')?.order, undefined);
  });

  it('that may go on without a server says by which command', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a', { order: adminOrder('node-a') });
    fleet.servers[1]?.down();
    const { said } = await run(fleet, ['node-a']);
    assert.match(said, /; nothing was changed; .*: konnectivity-ts undrain node-a --allow-partial\n$/);
  });
});

describe('drains', () => {
  it('lists each order once, whoever keeps it', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a', { order: adminOrder('node-a') });
    fleet.first.stored.set('node-a', adminOrder('node-a', { deadline: minutesAgo(3), overdue: true }));
    const { lines } = await outcome(drains, fleet, { output: 'wide' });
    assert.deepEqual(cells(lines)[1], [
      'node-a',
      'order7f3',
      '12m',
      'alice@example (claimed)',
      'kernel patch',
      'deadline passed 3m ago (keep)',
      'undrain',
      'overdue',
      '1',
      'by the server',
    ]);
    assert.equal((await outcome(drains, fleet, { output: 'name' })).out, 'node-a\n');
  });

  it('with --watch shows when one ends', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a', { order: adminOrder('node-a') });
    const io = new OperatorIo();
    const code = drains({ watch: true }, io, toolsOf(fleet));
    await io.written('order7f3');
    delete (fleet.agents.get('node-a') as { order?: unknown }).order;
    await io.written('node-a  order7f3 ended');
    io.interrupt.abort();
    assert.equal(await code, 130);
  });

  it('with --watch says once that a server is lost, and calls nothing ended that it may still have', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.agent('node-a');
    const [first, second] = fleet.servers;
    first?.stored.set('node-a', adminOrder('node-a'));
    const io = new OperatorIo();
    const code = drains({ watch: true }, io, toolsOf(fleet));
    await io.written('order7f3');
    assert.ok(first);
    first.health = 'down';
    await io.written('trying again');
    second?.stored.set('node-a', adminOrder('node-a', { id: 'another' }));
    await io.written('another');
    first.health = 'up';
    await io.written('is back');
    io.interrupt.abort();
    assert.equal(await code, 130);
    assert.equal(io.said.match(/trying again/g)?.length, 1);
    assert.doesNotMatch(io.out, /ended/);
  });
});

describe('select and why', () => {
  const selectRun = (fleet: FakeFleet, flags: Parameters<typeof select>[1] = {}) =>
    outcome(
      (f: Parameters<typeof select>[1], io, tools) => select('10.0.0.7:10250', f, io, tools),
      fleet,
      flags,
    );

  it('say which agent would be chosen and why, one block for each server', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.first.selection = {
      choice: 'only',
      choices: 1,
      strategy: 'destHost',
      reason: 'the only ready agent that names it',
      looks: [{ pass: 'ready', strategy: 'destHost', found: 1 }],
      strategies: [
        {
          name: 'destHost',
          key: '10.0.0.7',
          matches: 2,
          candidates: [
            { id: 'node-a', state: 'ready' },
            { id: 'node-b', state: 'draining', excluded: 'draining' },
          ],
        },
      ],
    };
    const { code, out } = await selectRun(fleet);
    assert.equal(code, 0);
    assert.equal(
      out,
      [
        'cp-1: 10.0.0.7:10250 -> node-a (strategy destHost)',
        '  the only ready agent that names it',
        '  PASS   STRATEGY  FOUND',
        '  ready  destHost  1      chosen here',
        '  STRATEGY           AGENT   STATE     WHY NOT',
        '  destHost 10.0.0.7  node-a  ready     <- this one',
        '  destHost 10.0.0.7  node-b  draining  draining',
        '',
        'cp-2: 10.0.0.7:10250 -> one of 2 agents at random, such as node-a (strategy default)',
        '',
      ].join('\n'),
    );
  });

  it('pass on what is assumed', async () => {
    const fleet = new FakeFleet('cp-1');
    for (const id of ['node-a', 'node-b', 'node-c']) fleet.agent(id);
    const slip = await selectRun(fleet, { assumeDrained: 'node-aa' });
    assert.equal(slip.code, 3);
    assert.match(slip.said, /there is no agent node-aa; did you mean node-a\?/);
    await selectRun(fleet, { assumeDrained: 'node-a, node-b', assumeGone: 'node-c' });
    assert.deepEqual(fleet.first.asked('select'), [
      { target: '10.0.0.7:10250', assumeDrained: ['node-a', 'node-b'], assumeGone: ['node-c'] },
    ]);
  });

  for (const target of ['10.0.0.9:99999', '10.0.0.9:0', ':80', '10.0.0.9', 'fd00::1']) {
    it(`and why refuse ${target} with 2 and one line, and ask nobody`, async () => {
      const fleet = new FakeFleet('cp-1');
      for (const command of [select, why]) {
        const { code, out, said } = await outcome((f, io, tools) => command(target, f, io, tools), fleet, {});
        assert.equal(code, 2);
        assert.match(
          said,
          /^konnectivity-ts: "[^"]+" is no destination: .*; give HOST:PORT or \[IPv6\]:PORT\n$/,
        );
        assert.equal(out, '');
      }
      assert.deepEqual(fleet.first.asked('select'), []);
    });
  }

  it('end with 3 when no agent can carry it', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.first.selection = { choice: 'none', agent: '', choices: 0 };
    assert.equal((await selectRun(fleet)).code, 3);
  });

  it('as JSON are one object for one server, an array for several', async () => {
    const one = JSON.parse((await selectRun(new FakeFleet('cp-1'), { output: 'json' })).out) as object;
    assert.deepEqual(Object.keys(one).slice(0, 6), [
      'server',
      'target',
      'choice',
      'agent',
      'strategy',
      'fallback',
    ]);
    assert.equal(
      (JSON.parse((await selectRun(new FakeFleet('a', 'b'), { output: 'json' })).out) as []).length,
      2,
    );
  });

  it('refuse an assumption about nobody, which would be the answer to another question', async () => {
    for (const flags of [{ assumeDrained: '' }, { assumeGone: ' , ' }]) {
      const { code, said } = await selectRun(new FakeFleet('cp-1'), flags);
      assert.equal(code, 2);
      assert.match(said, /--assume-(drained|gone) names no agent; give IDs, or leave it out/);
    }
  });

  it('why adds what the last dials met', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.agent('node-a');
    const tunnel = fleet.tunnel('node-a', { since: minutesAgo(3), ageSeconds: 60 });
    fleet.first.selection = {
      history: [
        { ...tunnel, closeReason: 'dial-failed', error: 'connection refused' },
        { ...tunnel, closeReason: 'agent-lost' },
        tunnel,
      ],
    };
    const { code, lines } = await outcome((f, io, tools) => why('10.0.0.7:10250', f, io, tools), fleet, {});
    assert.equal(code, 0);
    assert.deepEqual(
      cells(lines.slice(2).map((line) => line.trim())).map((row) => row[3]),
      [
        'dial-failed: connection refused',
        'agent-lost after 1m, 1.0 kB to the node, 2.0 MB from it',
        'runs, 1.0 kB to the node, 2.0 MB from it',
      ],
    );
    assert.equal((fleet.first.asked('select')[0] as { history: number }).history, 10);
  });
});

describe('an empty filter', () => {
  for (const [flag, run] of [
    ['agent', (io, tools) => tunnels({ agent: '' }, io, tools)],
    ['destination', (io, tools) => tunnels({ destination: '' }, io, tools)],
    ['agent', (io, tools) => events({ agent: '' }, io, tools)],
  ] as readonly [string, (io: OperatorIo, tools: OperatorTools) => Promise<number>][]) {
    it(`as --${flag} is refused: it would show everything, which a script may close`, async () => {
      const fleet = new FakeFleet('cp-1');
      fleet.agent('node-a');
      fleet.tunnel('node-a');
      const io = new OperatorIo();
      assert.equal(await run(io, toolsOf(fleet)), 2);
      await io.written(`konnectivity-ts: --${flag} is empty; give a value, or leave it out`);
      assert.equal(io.out, '');
    });
  }
});

describe('events', () => {
  it('of several servers come in the order of their times', async () => {
    const fleet = new FakeFleet('cp-1', 'cp-2');
    fleet.servers[1]?.event('agent-lost', 'node-b is lost', { time: minutesAgo(1) });
    fleet.first.event('order-placed', 'node-a is to drain', { time: minutesAgo(2), actor: 'alice\u001b' });
    fleet.first.event('old', 'long ago', { time: minutesAgo(60) });
    const { code, lines } = await outcome(events, fleet, { since: '10m' });
    assert.equal(code, 0);
    assert.deepEqual(lines, [
      '2026-01-01T11:58:00.000Z  cp-1  order-placed          node-a is to drain, by alice\\u001b',
      '2026-01-01T11:59:00.000Z  cp-2  agent-lost            node-b is lost',
    ]);
    assert.equal((await outcome(events, fleet, {})).lines.length, 3);
    assert.equal((await outcome(events, fleet, { since: 'yesterday' })).code, 2);
  });

  it('are followed until somebody stops it, as JSON one object a line', async () => {
    const fleet = new FakeFleet('cp-1');
    fleet.first.event('old', 'before');
    const io = new OperatorIo();
    const code = events({ follow: true, output: 'json' }, io, toolsOf(fleet));
    await new Promise(setImmediate);
    fleet.first.event('agent-connected', 'node-a');
    await io.written('agent-connected');
    io.interrupt.abort();
    assert.equal(await code, 130);
    const [event, ...more] = io.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(more, []);
    assert.equal(event?.number, '2');
  });
});
