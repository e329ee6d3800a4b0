import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import {
  closeDial,
  closeRequest,
  dialFailure,
  dialRequest,
  dialResponse,
  pong,
} from '../../src/proxy/wire/packets.ts';
import { defaultProbeTimes } from '../../src/proxy/wire/probe.ts';
import { answering } from '../peers/answering.ts';
import { received, requestConnect } from '../peers/connect-request.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer, type TestServerOptions } from '../peers/test-server.ts';
import { Exposition, upstreamServerMetrics } from '../peers/upstream-metrics.ts';

const PREFIX = 'konnectivity_network_proxy_server_';

let running: TestServer | undefined;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  running = await TestServer.start({ ...options, times: { holdMs: 0, ...options.times } });
  return running;
}

afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function scrape(server: TestServer): Promise<Exposition> {
  return new Exposition(await server.server.metrics.registry.metrics());
}

const failures = (server: TestServer): Record<string, number> =>
  Object.fromEntries(server.server.counters.dialFailures);

/** A frontend whose dial the agent has. */
async function dialling(server: TestServer, agent: ScriptedStream, dialId: bigint): Promise<ScriptedStream> {
  const frontend = server.frontend();
  frontend.send(dialRequest(dialId, '10.0.0.1:80'));
  await agent.next(PacketType.DIAL_REQ);
  return frontend;
}

it('the exposition has every metric of upstream, with its type, labels and buckets', async () => {
  const server = await start();
  const agent = await server.agent('a');
  const failed = await dialling(server, agent, 1n);
  agent.send(dialFailure(1n, 'refused'));
  await failed.ended;
  const lost = await dialling(server, agent, 2n);
  lost.stream.abort(1, 'gone');
  await agent.next(PacketType.DIAL_CLS);
  const { leases } = server.server.metrics;
  leases.listed(403, 'Forbidden', 0.2);
  leases.deleted(200, '', 0.2);
  leases.culled();
  (await scrape(server)).holds(PREFIX, upstreamServerMetrics);
});

it('packets are counted by segment and type', async () => {
  const server = await start();
  const agent = await server.agent('a', { kind: 'go' });
  const frontend = await dialling(server, agent, 1n);
  agent.send(dialResponse(1n, 7));
  await frontend.next(PacketType.DIAL_RSP);
  for (let i = 0; i < 3; i++) frontend.stream.sendFrame(encodeDataFrame(7, Buffer.from('x')));
  for (let i = 0; i < 3; i++) await agent.next(PacketType.DATA);
  agent.stream.sendFrame(encodeDataFrame(7, Buffer.from('y')));
  await frontend.next(PacketType.DATA);
  frontend.send(closeRequest(7));
  await frontend.ended;
  const exposition = await scrape(server);
  const packets = (type: string, segment: string): number | undefined =>
    exposition.value(`${PREFIX}stream_packets_total{packet_type="${type}",segment="${segment}"}`);
  assert.deepEqual(
    ['DIAL_REQ', 'DATA', 'CLOSE_REQ'].map((type) => [
      packets(type, 'from_client'),
      packets(type, 'to_agent'),
    ]),
    [
      [1, 1],
      [3, 3],
      [1, 1],
    ],
  );
  assert.deepEqual(
    ['DIAL_RSP', 'DATA'].map((type) => [packets(type, 'from_agent'), packets(type, 'to_client')]),
    [
      [1, 1],
      [1, 1],
    ],
  );
  assert.equal(exposition.value(`${PREFIX}connection_duration_seconds_count`), 1);
  assert.equal(exposition.value(`${PREFIX}dial_duration_seconds_count`), 1);
  assert.equal(exposition.value(`${PREFIX}frontend_write_duration_seconds_count`), 1);
});

it('a stream that ends with an error is counted with its code, an orderly end is not', async () => {
  const server = await start();
  const agent = await server.agent('a');
  const frontend = await dialling(server, agent, 1n);
  frontend.stream.abort(1, 'gone');
  agent.stream.end();
  await server.logged('Agent disconnected');
  await until(() => server.server.counters.clients.errors.size > 0, 'the error of the frontend');
  const exposition = await scrape(server);
  const label = 'code="Canceled",packet_type="Unknown"';
  assert.equal(exposition.value(`${PREFIX}stream_errors_total{${label},segment="from_client"}`), 1);
  assert.equal(server.server.counters.agents.errors.size, 0);
});

it('all gauges are zero after everything ended', async () => {
  const server = await start();
  const agent = await server.agent('a');
  const frontend = await dialling(server, agent, 1n);
  agent.send(dialResponse(1n, 7));
  await frontend.next(PacketType.DIAL_RSP);
  const during = await scrape(server);
  const gauges = [
    'pending_backend_dials',
    'established_connections',
    'http_connections',
    'ready_backend_connections',
    'ready_backends{proxy_strategy="default"}',
    'grpc_connections{service_method="Connect"}',
    'grpc_connections{service_method="Proxy"}',
  ];
  assert.deepEqual(
    gauges.map((name) => during.value(PREFIX + name)),
    [0, 1, 0, 1, 1, 1, 1],
  );
  frontend.stream.abort(1, 'gone');
  agent.stream.end();
  await until(() => server.server.backends.size + server.server.counters.grpcFrontends === 0, 'the end');
  const after = await scrape(server);
  assert.deepEqual(
    gauges.map((name) => after.value(PREFIX + name)),
    gauges.map(() => 0),
  );
});

it('ours tell the version, the delay of the event loop and why tunnels closed', async () => {
  const server = await start();
  const exposition = await scrape(server);
  assert.deepEqual(exposition.names('konnectivity_ts_').sort(), [
    'backends',
    'build_info',
    'closed_tunnels_total',
    'drain_order_age_seconds_max',
    'drain_orders',
    'event_loop_delay_seconds',
    'fallback_dials_total',
    'pools_out_of_ready',
  ]);
  assert.equal(
    exposition.value(`konnectivity_ts_build_info{node="${process.versions.node}",version="test"}`),
    1,
  );
});

it('ours tell agents by state, drain orders, and pools that are out of ready agents', async () => {
  const server = await start();
  await server.agent('a', { kind: 'go' });
  await server.agent('b', { kind: 'go' });
  const command = { actor: 'alice', actorClaimed: false, force: true };
  server.server.drain.drain({ agentIds: ['a'], ...command });
  const one = await scrape(server);
  assert.equal(one.value('konnectivity_ts_backends{state="ready",strategy="default"}'), 1);
  assert.equal(one.value('konnectivity_ts_backends{state="draining",strategy="default"}'), 1);
  assert.equal(one.value('konnectivity_ts_drain_orders'), 1);
  assert.equal(one.value('konnectivity_ts_pools_out_of_ready{strategy="default"}'), 0);
  server.server.drain.drain({ agentIds: ['b'], ...command });
  const both = await scrape(server);
  assert.equal(both.value('konnectivity_ts_pools_out_of_ready{strategy="default"}'), 1);
  assert.ok((both.value('konnectivity_ts_drain_order_age_seconds_max') ?? -1) >= 0);
});

it('ours count dials that went to an agent which is not ready, by strategy', async () => {
  const server = await start();
  const agent = await server.agent('a', { kind: 'go' });
  answering(agent);
  const dial = async (id: bigint): Promise<void> => {
    const frontend = server.frontend();
    frontend.send(dialRequest(id, '10.0.0.1:80'));
    assert.equal((await frontend.next(PacketType.DIAL_RSP)).error, '');
  };
  const counted = async (): Promise<number | undefined> =>
    (await scrape(server)).value('konnectivity_ts_fallback_dials_total{strategy="default"}');
  await dial(1n);
  assert.equal((await counted()) ?? 0, 0);
  server.server.drain.drain({ agentIds: ['a'], actor: 'alice', actorClaimed: false, force: true });
  await dial(2n);
  assert.equal(await counted(), 1);
});

it('ours tell a suspect agent, and when it answers again', async () => {
  const probe = {
    ...defaultProbeTimes,
    intervalMs: 20,
    suspectMs: 20,
    urgentSuspectMs: 20,
    deadMs: 3_600_000,
  };
  const server = await start({ times: { probe } });
  const agent = await server.agent('a');
  const question = await agent.next(PacketType.PING);
  await server.logged('Agent is late');
  const states = async (): Promise<unknown[]> => {
    const exposition = await scrape(server);
    return ['ready', 'suspect'].map((state) =>
      exposition.value(`konnectivity_ts_backends{state="${state}",strategy="default"}`),
    );
  };
  assert.deepEqual(await states(), [0, 1]);
  agent.onPacket = (packet) => {
    if (packet.type === PacketType.PING) agent.send(pong(packet.amount));
  };
  agent.send(pong(question.amount));
  await server.logged('Agent answers again');
  assert.deepEqual(await states(), [1, 0]);
});

it('no_agent: nobody is connected that could be asked', async () => {
  const server = await start();
  const frontend = server.frontend();
  frontend.send(dialRequest(1n, '10.0.0.1:80'));
  await frontend.ended;
  assert.deepEqual(failures(server), { no_agent: 1 });
});

it('error_response: the agent answers with an error', async () => {
  const server = await start();
  const agent = await server.agent('a');
  const frontend = await dialling(server, agent, 1n);
  agent.send(dialFailure(1n, 'connection refused'));
  await frontend.ended;
  assert.deepEqual(failures(server), { error_response: 1 });
});

it('unrecognized_response: an answer to a dial that nobody waits for', async () => {
  const server = await start();
  const agent = await server.agent('a');
  agent.send(dialResponse(99n, 5));
  assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 5);
  assert.deepEqual(failures(server), { unrecognized_response: 1 });
});

it('backend_close: the agent gives the dial up, or disconnects', async () => {
  const server = await start();
  const agent = await server.agent('a');
  const first = await dialling(server, agent, 1n);
  agent.send(closeDial(1n));
  await first.ended;
  const second = await dialling(server, agent, 2n);
  agent.stream.end();
  await second.ended;
  assert.deepEqual(failures(server), { backend_close: 2 });
});

it('backend_dial_timeout: the agent does not answer in time', async () => {
  const server = await start({ times: { dialTimeoutMs: 20 } });
  const agent = await server.agent('a');
  const frontend = await dialling(server, agent, 1n);
  await frontend.ended;
  assert.deepEqual(failures(server), { backend_dial_timeout: 1 });
});

it('frontend_close: the client gives up before the answer', async () => {
  const server = await start();
  const agent = await server.agent('a');
  const frontend = await dialling(server, agent, 1n);
  frontend.send(closeDial(1n));
  await agent.next(PacketType.DIAL_CLS);
  assert.deepEqual(failures(server), { frontend_close: 1 });
});

it('send_rsp: the client is gone in the moment of the answer, and the endpoint is closed again', async () => {
  const server = await start();
  const agent = await server.agent('a');
  const frontend = await dialling(server, agent, 1n);
  const [backend] = [...server.server.backends.all()];
  const dial = backend?.dials.get(1n) as unknown as { frontend: { open: boolean } };
  Object.defineProperty(dial.frontend, 'open', { get: () => false });
  agent.send(dialResponse(1n, 5));
  assert.equal((await agent.next(PacketType.CLOSE_REQ)).connectId, 5);
  assert.deepEqual(failures(server), { send_rsp: 1 });
  assert.equal(server.server.counters.establishedTunnels, 0);
  frontend.stream.abort(1, 'done');
});

it('a CONNECT client is counted while it is there', async () => {
  const server = await start();
  const socket = await server.connectSocket();
  requestConnect(socket, '10.0.0.1:80');
  await received(socket);
  await until(() => server.server.counters.connectFrontends === 0, 'the end of the socket');
  assert.deepEqual(failures(server), { no_agent: 1 });
});
