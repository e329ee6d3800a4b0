import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Backends } from './backends.ts';
import type { ServerCounters } from './server-counters.ts';

const PREFIX = 'konnectivity_network_proxy_server_';
// Upstream's latency buckets, in seconds.
const LATENCY_SECONDS = [1e-6, 1e-5, 1e-4, 0.005, 0.025, 0.1, 0.5, 2.5, 12.5];

/** The server's metrics, under upstream's names; ours under konnectivity_ts_. */
export interface ServerMetrics {
  readonly registry: Registry;
  dialSeconds(seconds: number): void;
}

/** Metrics that read the server's counters when they are scraped. */
export function serverMetrics(counters: ServerCounters, backends: Backends): ServerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name: PREFIX + name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  };
  gauge('pending_backend_dials', 'Dials that are not yet answered.', () => counters.pendingDials);
  gauge('established_connections', 'Established tunnels.', () => counters.establishedTunnels);
  gauge('http_connections', 'Open HTTP CONNECT connections.', () => counters.connectFrontends);
  gauge('ready_backend_connections', 'Deprecated: connected agents.', () => backends.size);
  new Gauge({
    name: `${PREFIX}grpc_connections`,
    help: 'Open gRPC streams by method.',
    labelNames: ['service_method'],
    registers,
    collect() {
      this.set({ service_method: 'Proxy' }, counters.grpcFrontends);
      this.set({ service_method: 'Connect' }, backends.size);
    },
  });
  new Gauge({
    name: `${PREFIX}ready_backends`,
    help: 'Backends per strategy, draining ones included (as upstream counts).',
    labelNames: ['proxy_strategy'],
    registers,
    collect() {
      for (const strategy of backends.registry.strategies) {
        this.set({ proxy_strategy: strategy.name }, strategy.backendCount);
      }
    },
  });
  counterOf(
    registers,
    `${PREFIX}dial_failure_count`,
    'Failed dials by reason.',
    'reason',
    () => counters.dialFailures,
  );
  counterOf(
    registers,
    'konnectivity_ts_closed_tunnels_total',
    'Ended tunnels by close reason.',
    'reason',
    () => counters.closedTunnels,
  );
  counterOf(
    registers,
    'konnectivity_ts_fallback_dials_total',
    'Dials that went to an agent that is not ready.',
    'strategy',
    () => counters.fallbackDials,
  );
  const dialDuration = new Histogram({
    name: `${PREFIX}dial_duration_seconds`,
    help: 'Time from a dial to its tunnel.',
    buckets: LATENCY_SECONDS,
    registers,
  });
  return { registry, dialSeconds: (seconds) => dialDuration.observe(seconds) };
}

function counterOf(
  registers: Registry[],
  name: string,
  help: string,
  label: string,
  values: () => ReadonlyMap<string, number>,
): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers,
    collect() {
      this.reset();
      for (const [value, count] of values()) this.inc({ [label]: value }, count);
    },
  });
}
