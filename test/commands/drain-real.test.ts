import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { after, afterEach, before, describe, it } from 'node:test';
import { dialTunnel } from '../../src/proxy/client/dial-tunnel.ts';
import { deferred } from '../peers/deferred.ts';
import { OperatorWorld } from '../peers/operator-world.ts';
import { Pattern } from '../peers/pattern.ts';
import { type Destination, startDestination } from '../peers/tunnel.ts';

describe('drain against real servers and agents', () => {
  let world: OperatorWorld;
  let echo: Destination;
  const tunnels: Duplex[] = [];

  before(async () => {
    world = await OperatorWorld.start(['cp-1', 'cp-2'], ['node-a', 'node-b']);
    echo = await startDestination((socket) => socket.pipe(socket));
  });
  afterEach(async () => {
    for (const tunnel of tunnels.splice(0)) tunnel.destroy();
    for (const id of ['node-a', 'node-b']) await world.run(['undrain', id]).ended;
  });
  after(async () => {
    echo.close();
    await world.close();
  });

  const dial = async (address = echo.address): Promise<Duplex> => {
    const tunnel = await dialTunnel({
      server: { kind: 'unix', path: world.servers[0]?.connectPath ?? '' },
      mode: 'http-connect',
      address,
      signal: new AbortController().signal,
      timeoutMs: 20_000,
    });
    tunnels.push(tunnel);
    tunnel.on('error', () => {});
    return tunnel;
  };
  /** Opens tunnels until that agent carries one, and closes the others. */
  const dialThrough = async (agentId: string): Promise<Duplex> => {
    for (;;) {
      const tunnel = await dial();
      if ((await carrier(tunnel)) === agentId) return tunnel;
      tunnel.destroy();
    }
  };
  const carrier = async (tunnel: Duplex): Promise<string> => {
    const backends = [...(world.servers[0]?.server.backends.all() ?? [])];
    await echoed(tunnel, 'who?');
    return backends.find((backend) => backend.tunnels.size > 0)?.agentId ?? '';
  };
  const echoed = async (tunnel: Duplex, text: string): Promise<string> => {
    tunnel.write(text);
    return String((await once(tunnel, 'data'))[0]);
  };

  it('a tunnel runs on, new dials go elsewhere, and drained is said of both servers', async () => {
    const tunnel = await dialThrough('node-b');
    const run = world.run(['drain', 'node-b', '--reason', 'kernel patch'], {
      KONNECTIVITY_TS_ADMIN: world.sockets.join(','),
    });
    await run.written('node-b: draining, 1 tunnel left on 2 servers');
    await run.written(`  ${echo.address}, `);
    for (let i = 0; i < 10; i++) (await dial()).write('x');
    const drained = [...(world.servers[0]?.server.backends.all() ?? [])].find(
      (one) => one.agentId === 'node-b',
    );
    assert.equal(drained?.tunnels.size, 1);
    assert.equal(await echoed(tunnel, 'still here'), 'still here');
    tunnel.end();
    const { code, out } = await run.ended;
    assert.equal(code, 0);
    assert.match(out, /^node-b: drained on all its 2 servers; safe to stop\n$/);
    const orders = await world.run(['drains', '-o', 'json'], {
      KONNECTIVITY_TS_ADMIN: world.sockets[1] ?? '',
    }).ended;
    const [order] = JSON.parse(orders.out) as { reason: string }[];
    assert.equal(order?.reason, 'kernel patch');
    const undone = await world.run(['undrain', 'node-b']).ended;
    assert.equal(undone.code, 0);
    assert.match(undone.out, /^node-b: ended: order /);
  });

  it('a long transfer ends untouched, its agent is drained then, and leaves by itself when it is told to stop', async () => {
    const agent = await world.agent('node-c');
    const pattern = new Pattern(1, 'down');
    const [half, whole] = [2 << 20, 4 << 20];
    const rest = deferred<void>();
    const source = await startDestination((socket) => {
      socket.write(pattern.bytes(0, half));
      void rest.promise.then(() => socket.end(pattern.bytes(half, whole - half)));
    });
    const isCarrier = (): boolean =>
      [...(world.servers[0]?.server.backends.all() ?? [])].some(
        (one) =>
          one.agentId === 'node-c' &&
          [...one.tunnels.values()].some((tunnel) => tunnel.address === source.address),
      );
    let transfer = await dial(source.address);
    while (!isCarrier()) {
      transfer.destroy();
      transfer = await dial(source.address);
    }
    const received: Buffer[] = [];
    transfer.on('data', (chunk: Buffer) => received.push(chunk));
    const both = { KONNECTIVITY_TS_ADMIN: world.sockets.join(',') };
    const run = world.run(['drain', 'node-c'], both);
    await run.written(`  ${source.address}, `);
    rest.resolve();
    await once(transfer, 'end');
    pattern.check(0, Buffer.concat(received));
    assert.equal(Buffer.concat(received).length, whole);
    transfer.end();
    assert.deepEqual((await run.ended).out, 'node-c: drained on all its 2 servers; safe to stop\n');
    agent.agent.leave();
    assert.equal(await agent.ended, 'left');
    source.close();
    // Nobody carries the end any more: each server has to be told.
    assert.equal((await world.run(['undrain', 'node-c'], both).ended).code, 0);
  });

  it('safe to stop is said by one server for both', async () => {
    const run = world.run(['drain', 'node-b', '--admin', world.sockets[1] ?? '']);
    assert.match((await run.ended).out, /^node-b: drained on all its 2 servers; safe to stop\n$/);
  });

  it('the second of two agents is refused with 6; --force insists', async () => {
    assert.equal((await world.run(['drain', 'node-b']).ended).code, 0);
    const refused = await world.run(['drain', 'node-a']).ended;
    assert.equal(refused.code, 6);
    assert.match(
      refused.said,
      /nothing was changed\ndrain all the same: konnectivity-ts drain node-a --force\n/,
    );
    assert.equal((await world.run(['drain', 'node-a', '--force', '--no-wait']).ended).code, 0);
  });

  it('of two that drain the last two agents at once, over both servers, one is refused with nothing changed', async () => {
    const [one = '', two = ''] = world.sockets;
    const runs = [
      world.run(['drain', 'node-a', '--admin', `${one},${two}`]),
      world.run(['drain', 'node-b', '--admin', `${two},${one}`]),
    ];
    const codes = await Promise.all(runs.map(async ({ ended }) => (await ended).code));
    assert.deepEqual(codes.sort(), [0, 6]);
    for (const { server } of world.servers) assert.equal(server.drain.orders().length, 1);
  });

  it('--timeout ends with 4, Ctrl-C with 130, and the order stays', async () => {
    await dialThrough('node-b');
    assert.equal((await world.run(['drain', 'node-b', '--timeout', '1s']).ended).code, 4);
    const run = world.run(['drain', 'node-b']);
    await run.written('1 tunnel left');
    run.interrupt();
    const { code, said } = await run.ended;
    assert.equal(code, 130);
    assert.match(said, /undo it: konnectivity-ts undrain node-b\n/);
    assert.match((await world.run(['drains', '-o', 'name']).ended).out, /^node-b\n$/);
  });

  it('an agent that goes with a tunnel ends it with 8', async () => {
    const agent = await world.agent('node-c');
    await dialThrough('node-c');
    const run = world.run(['drain', 'node-c']);
    await run.written('1 tunnel left');
    await agent.stop();
    const { code, out } = await run.ended;
    assert.equal(code, 8);
    assert.match(out, /^node-c: left; 1 tunnel was cut\n$/);
  });

  it('an order that somebody else ends is 1, and a list without one of its servers is 7', async () => {
    await dialThrough('node-b');
    const run = world.run(['drain', 'node-b']);
    await run.written('1 tunnel left');
    assert.equal((await world.run(['undrain', 'node-b']).ended).code, 0);
    const { code, out } = await run.ended;
    assert.equal(code, 1);
    assert.match(out, /^node-b: no longer draining: somebody ended the order\n$/);
    const listed = await world.run(['agents', '--admin', `${world.sockets[0]},unix:///nowhere.sock`]).ended;
    assert.equal(listed.code, 7);
    assert.match(listed.said, /1 of 2 servers answered/);
    const without = ['--allow-partial', '--admin', `${world.sockets[0]},unix:///nowhere.sock`];
    assert.equal((await world.run(['drain', 'node-b', '--no-wait', ...without]).ended).code, 7);
    assert.equal((await world.run(['undrain', 'node-b', ...without]).ended).code, 7);
  });

  it('unknown agents are 3, unreachable servers 5, missing answers 2', async () => {
    const unknown = await world.run(['drain', 'node-x']).ended;
    assert.equal(unknown.code, 3);
    assert.match(unknown.said, /there is no agent node-x; did you mean/);
    const away = await world.run(['drain', 'node-b', '--admin', `${world.sockets[0]},unix:///nowhere.sock`])
      .ended;
    assert.equal(away.code, 5);
    assert.match(
      away.said,
      /nothing was changed; try again, or go on without that server: konnectivity-ts drain node-b --allow-partial --admin /,
    );
    const asking = ['drain', 'node-a', '--deadline', '1h', '--at-deadline', 'close'];
    assert.equal((await world.run(asking).ended).code, 2);
    assert.equal((await world.run(['drain']).ended).code, 2);
    assert.equal((await world.run(['undrain', 'node-x']).ended).code, 3);
    assert.equal((await world.run(['close', 'no-such-tunnel']).ended).code, 3);
    assert.equal((await world.run(['undrain', 'node-a', 'node-b']).ended).code, 2);
  });

  it('--deadline with close cuts what is left, and the agent stays', async () => {
    await dialThrough('node-b');
    const run = world.run(['drain', 'node-b', '--deadline', '1s', '--at-deadline', 'close', '--yes']);
    const { code, out } = await run.ended;
    assert.equal(code, 0);
    assert.match(out, /^node-b: drained on all its 2 servers; .*; 1 tunnel closed at the deadline\n$/);
    assert.match((await world.run(['agents', '-o', 'name']).ended).out, /node-b/);
  });

  it('with options changes the order in force, at every server', async () => {
    const both = { KONNECTIVITY_TS_ADMIN: world.sockets.join(',') };
    await world.run(['drain', 'node-b', '--no-wait'], both).ended;
    const updated = await world.run(['drain', 'node-b', '--deadline', '1h', '--no-wait'], both).ended;
    assert.match(updated.said, /node-b: order \w+ was changed: no deadline -> deadline in /);
    for (const socket of world.sockets) {
      const listed = await world.run(['drains', '-o', 'json'], { KONNECTIVITY_TS_ADMIN: socket }).ended;
      const orders = JSON.parse(listed.out) as { agentId: string; deadline?: string }[];
      assert.notEqual(orders.find(({ agentId }) => agentId === 'node-b')?.deadline, undefined);
    }
  });

  it('tunnels, close, why and select tell of the same tunnel', async () => {
    await dialThrough('node-b');
    const [tunnel] = JSON.parse((await world.run(['tunnels', '-o', 'json']).ended).out) as {
      id: string;
      agent: string;
      destination: string;
    }[];
    assert.equal(tunnel?.agent, 'node-b');
    assert.equal(tunnel?.destination, echo.address);
    assert.equal((await world.run(['close', tunnel?.id ?? '', '--reason', 'test']).ended).code, 0);
    const closed = await world.run(['why', echo.address]).ended;
    assert.equal(closed.code, 0);
    assert.match(closed.out, /node-b .*closed-by-operator/);
    const selected = await world.run(['select', 'node-b.example:1', '--assume-drained', 'node-b']).ended;
    assert.equal(selected.code, 0);
    assert.match(selected.out, /-> node-a \(strategy default\)/);
  });
});
