import { collectDefaultMetrics, Registry } from 'prom-client';
import { ownMetrics } from '../ops/own-metrics.ts';
import { byLabel, ScrapedMetrics } from '../ops/scraped-metrics.ts';
import { streamMetrics } from '../ops/stream-metrics.ts';
import { codeName } from '../wire/stream-counts.ts';
import type { Backends } from './backends.ts';
import type { DrainControl } from './drain/drain-control.ts';
import { drainMetrics } from './drain/drain-metrics.ts';
import { type ServerLeaseMetrics, serverLeaseMetrics } from './lease-metrics.ts';
import type { ServerCounters } from './server-counters.ts';

/** The server's metrics, under upstream's names and ours under konnectivity_ts_. */
export interface ServerMetrics {
  readonly registry: Registry;
  /** Ends what is measured by time. */
  close(): void;
  readonly leases: ServerLeaseMetrics;
}

/** Metrics that read the server's counters when they are scraped. */
export function serverMetrics(
  counters: ServerCounters,
  backends: Backends,
  drain: DrainControl,
  version: string,
): ServerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  upstreamMetrics(new ScrapedMetrics(registry, 'konnectivity_network_proxy_server_'), counters, backends);
  const ours = new ScrapedMetrics(registry, 'konnectivity_ts_');
  ours.counters('closed_tunnels_total', 'Ended tunnels by close reason.', () =>
    byLabel('reason', counters.closedTunnels),
  );
  ours.counters('fallback_dials_total', 'Dials that went to an agent that is not ready.', () =>
    byLabel('strategy', counters.fallbackDials),
  );
  drainMetrics(ours, {
    strategies: backends.registry.strategies,
    orders: () => drain.orders(),
    nowUnixMs: () => Date.now(),
  });
  const leases = serverLeaseMetrics(registry);
  return { registry, leases, close: ownMetrics(registry, version) };
}

function upstreamMetrics(metrics: ScrapedMetrics, counters: ServerCounters, backends: Backends): void {
  metrics.histogram(
    'dial_duration_seconds',
    'Latency of dial to the remote endpoint in seconds',
    counters.dialSeconds,
  );
  metrics.histogram(
    'frontend_write_duration_seconds',
    'Latency of write to the frontend in seconds',
    counters.frontendWriteSeconds,
  );
  metrics.histogram(
    'connection_duration_seconds',
    'Duration in seconds a proxied end-to-end connection was established (post-dial) before being closed.',
    counters.tunnelSeconds,
  );
  metrics.gauges(
    'grpc_connections',
    'Number of current grpc connections, partitioned by service method.',
    () => [
      { labels: { service_method: 'Connect' }, value: backends.size },
      { labels: { service_method: 'Proxy' }, value: counters.grpcFrontends },
    ],
  );
  metrics.gauge(
    'http_connections',
    'Number of current HTTP CONNECT connections',
    () => counters.connectFrontends,
  );
  metrics.gauge(
    'ready_backend_connections',
    'Number of konnectivity agent connected to the proxy server. DEPRECATED, please use ready_backends',
    () => backends.size,
  );
  metrics.gauges('ready_backends', 'Number of konnectivity agent connected to the proxy server', () =>
    backends.registry.strategies.map((strategy) => ({
      labels: { proxy_strategy: strategy.name },
      value: strategy.backendCount,
    })),
  );
  metrics.gauge(
    'pending_backend_dials',
    'Current number of pending backend dial requests',
    () => counters.pendingDials,
  );
  metrics.gauge(
    'established_connections',
    'Current number of established end-to-end connections (post-dial).',
    () => counters.establishedTunnels,
  );
  metrics.gauges(
    'full_receive_channels',
    'Number of current connections blocked by a full receive channel, partitioned by service method.',
    () => [
      // Nothing stops the stream of an agent, whatever one reader does.
      { labels: { service_method: 'Connect' }, value: 0 },
      { labels: { service_method: 'Proxy' }, value: pausedFrontends(backends) },
    ],
  );
  metrics.counters(
    'dial_failure_count',
    'Number of dial failures observed. Multiple failures can occur for a single dial request.',
    () => byLabel('reason', counters.dialFailures),
  );
  const { agents, clients } = counters;
  streamMetrics(
    metrics,
    [
      { name: 'from_client', packets: clients.received, errors: clients.errors },
      { name: 'to_client', packets: clients.sent },
      { name: 'from_agent', packets: agents.received, errors: agents.errors },
      { name: 'to_agent', packets: agents.sent },
    ],
    codeName,
  );
}

/** Frontends that are not read, because the way to the node is full. */
function pausedFrontends(backends: Backends): number {
  let paused = 0;
  for (const backend of backends.all()) {
    for (const tunnel of backend.tunnels.values()) if (tunnel.paused) paused++;
  }
  return paused;
}
