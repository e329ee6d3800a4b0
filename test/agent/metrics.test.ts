import assert from 'node:assert/strict';
import { it } from 'node:test';
import { agentMetrics } from '../../src/proxy/agent/agent-metrics.ts';
import { agentLeaseMetrics } from '../../src/proxy/agent/lease-metrics.ts';
import { until } from '../peers/sockets-left.ts';
import { startDestination, startTunnel, unusedAddress } from '../peers/tunnel.ts';
import { Exposition, upstreamAgentMetrics } from '../peers/upstream-metrics.ts';

const PREFIX = 'konnectivity_network_proxy_agent_';

it('the exposition has every metric of upstream, with its type, labels and buckets', async () => {
  const destination = await startDestination((socket) => socket.end('hello'));
  const tunnel = await startTunnel();
  const agent = tunnel.agents.get('a')?.agent;
  assert.ok(agent !== undefined);
  const metrics = agentMetrics(agent);
  const leases = agentLeaseMetrics(metrics.registry);
  leases.listed(200, '', 0.2);
  leases.watched(410, 'Expired');
  try {
    const socket = await tunnel.dial('grpc', destination.address);
    for await (const _ of socket);
    await assert.rejects(tunnel.dial('grpc', await unusedAddress()));
    await until(() => agent.counts.openEndpoints === 0, 'the end of the endpoint');
    const during = new Exposition(await metrics.registry.metrics());
    const value = (name: string): number | undefined => during.value(PREFIX + name);
    assert.equal(value('open_server_connections'), 1);
    assert.equal(value('known_server_count'), 1);
    assert.equal(value('open_endpoint_connections'), 0);
    assert.equal(value('dial_duration_seconds_count'), 1);
    assert.equal(value('endpoint_dial_failure_total{reason="unknown"}'), 1);
    assert.equal(value('stream_packets_total{packet_type="DIAL_REQ",segment="to_agent"}'), 2);
    assert.equal(value('stream_packets_total{packet_type="DIAL_RSP",segment="from_agent"}'), 2);
    assert.equal(value('stream_packets_total{packet_type="DATA",segment="from_agent"}'), 1);
    for (const backend of tunnel.server.server.backends.all()) backend.abort(14, 'away with it');
    await until(() => agent.counts.servers.errors.size > 0, 'the lost stream');
    const exposition = new Exposition(await metrics.registry.metrics());
    exposition.holds(PREFIX, upstreamAgentMetrics);
    assert.equal(exposition.value(`${PREFIX}server_connection_failure_count{direction="from_server"}`), 1);
    assert.deepEqual(exposition.names('konnectivity_ts_').sort(), [
      'agent_drain_order',
      'build_info',
      'event_loop_delay_seconds',
    ]);
  } finally {
    metrics.close();
    await tunnel.close();
    destination.close();
  }
});
