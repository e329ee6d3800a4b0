import { Counter, Histogram, type Registry } from 'prom-client';

const PREFIX = 'konnectivity_network_proxy_agent_';
// Upstream's, in seconds.
const LATENCY_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 30];

/** Told of each answer of the Kubernetes API about Leases. */
export interface AgentLeaseMetrics {
  listed(status: number, reason: string, seconds: number): void;
  watched(status: number, reason: string): void;
}

/** Adds upstream's metrics of the lease counter. */
export function agentLeaseMetrics(registry: Registry): AgentLeaseMetrics {
  const registers = [registry];
  const labelNames = ['http_response_code', 'reason'] as const;
  const lists = new Counter({
    name: `${PREFIX}lease_lists_total`,
    help: 'Lists of server Leases that the Kubernetes API answered.',
    labelNames,
    registers,
  });
  const watches = new Counter({
    name: `${PREFIX}lease_watches_total`,
    help: 'Watches of server Leases that the Kubernetes API answered.',
    labelNames,
    registers,
  });
  const latency = new Histogram({
    name: `${PREFIX}lease_list_latency_seconds`,
    help: 'Time of a list of server Leases.',
    labelNames: ['http_response_code'],
    buckets: LATENCY_SECONDS,
    registers,
  });
  return {
    listed: (status, reason, seconds) => {
      lists.inc({ http_response_code: status, reason });
      latency.observe({ http_response_code: status }, seconds);
    },
    watched: (status, reason) => watches.inc({ http_response_code: status, reason }),
  };
}
