import { Counter, Histogram, type Registry } from 'prom-client';

const PREFIX = 'konnectivity_network_proxy_server_';
// Prometheus' own default, as upstream has them here, in seconds.
const LATENCY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Told of what the collection of expired Leases does, and of each answer of the Kubernetes API. */
export interface ServerLeaseMetrics {
  listed(status: number, reason: string, seconds: number): void;
  deleted(status: number, reason: string, seconds: number): void;
  culled(): void;
}

/** Adds upstream's metrics of the lease controller. */
export function serverLeaseMetrics(registry: Registry): ServerLeaseMetrics {
  const registers = [registry];
  const culled = new Counter({
    name: `${PREFIX}culled_leases_count`,
    help: 'Expired Leases that this server deleted.',
    registers,
  });
  const lists = requests(registry, 'lease_list', 'Lists of Leases that the Kubernetes API answered.');
  const deletes = requests(registry, 'lease_delete', 'Deletions of Leases that the Kubernetes API answered.');
  return { listed: lists, deleted: deletes, culled: () => culled.inc() };
}

function requests(
  registry: Registry,
  name: string,
  help: string,
): (status: number, reason: string, seconds: number) => void {
  const registers = [registry];
  const total = new Counter({
    name: `${PREFIX}${name}_total`,
    help,
    labelNames: ['http_status_code', 'reason'],
    registers,
  });
  const latency = new Histogram({
    name: `${PREFIX}${name}_latency_seconds`,
    help: help.replace(/^(\w+)/, (word) => `Time of ${word.toLowerCase()}`),
    labelNames: ['http_status_code'],
    buckets: LATENCY_SECONDS,
    registers,
  });
  return (status, reason, seconds) => {
    total.inc({ http_status_code: status, reason });
    latency.observe({ http_status_code: status }, seconds);
  };
}
