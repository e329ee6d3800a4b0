import { collectDefaultMetrics, Registry } from 'prom-client';
import { ownMetrics } from '../ops/own-metrics.ts';
import { ScrapedMetrics } from '../ops/scraped-metrics.ts';
import { streamMetrics } from '../ops/stream-metrics.ts';
import { codeName } from '../wire/stream-counts.ts';
import type { ProxyAgent } from './proxy-agent.ts';

/** The agent's metrics. */
export interface AgentMetrics {
  readonly registry: Registry;
  /** Ends what is measured by time. */
  close(): void;
}

/** The agent's metrics under upstream's names, read from its counters when they are scraped. */
export function agentMetrics(agent: ProxyAgent): AgentMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  upstreamMetrics(new ScrapedMetrics(registry, 'konnectivity_network_proxy_agent_'), agent);
  new ScrapedMetrics(registry, 'konnectivity_ts_').gauge(
    'agent_drain_order',
    'Whether the agent is under a drain order of an operator.',
    () => (agent.order === null ? 0 : 1),
  );
  return { registry, close: ownMetrics(registry, agent.options.version) };
}

function upstreamMetrics(metrics: ScrapedMetrics, agent: ProxyAgent): void {
  const { counts, servers } = agent;
  metrics.histogram(
    'dial_duration_seconds',
    'Latency of dial to the remote endpoint in seconds',
    counts.dialSeconds,
  );
  metrics.counters(
    'server_connection_failure_count',
    'Count of failures to send to or receive from the proxy server, labeled by the direction (from_server or to_server). DEPRECATED, please use stream_events_error_total',
    () => [
      { labels: { direction: 'from_server' }, value: sum(counts.servers.errors.values()) },
      // A send never fails by itself here: the stream's end tells.
      { labels: { direction: 'to_server' }, value: 0 },
    ],
  );
  metrics.counters(
    'endpoint_dial_failure_total',
    'Number of failures dialing the remote endpoint, by reason (example: timeout).',
    () => [
      { labels: { reason: 'timeout' }, value: counts.timedOutDials },
      { labels: { reason: 'unknown' }, value: counts.failedDials - counts.timedOutDials },
    ],
  );
  metrics.gauge(
    'open_server_connections',
    'Current number of open server connections.',
    () => servers.links.size,
  );
  metrics.gauge(
    'known_server_count',
    'Current number of servers agent is trying to connect to.',
    () => servers.serverCount,
  );
  metrics.gauge(
    'open_endpoint_connections',
    'Current number of open endpoint connections.',
    () => counts.openEndpoints,
  );
  streamMetrics(
    metrics,
    [
      { name: 'to_agent', packets: counts.servers.received, errors: counts.servers.errors },
      { name: 'from_agent', packets: counts.servers.sent },
    ],
    codeName,
  );
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
