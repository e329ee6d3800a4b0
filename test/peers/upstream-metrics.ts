import assert from 'node:assert/strict';

/** What upstream's metric is: its type, its labels, and the bounds of its buckets as Go prints them. */
export interface UpstreamMetric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels?: readonly string[];
  readonly buckets?: readonly string[];
}

/** Prometheus' default, which upstream has for Leases at the server. */
const DEFAULTS = ['0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '+Inf'];

const LATENCY = ['1e-06', '1e-05', '0.0001', '0.005', '0.025', '0.1', '0.5', '2.5', '12.5', '+Inf'];

/** Every metric of upstream's server, without its prefix. As its Go binary exposes them. */
export const upstreamServerMetrics: Readonly<Record<string, UpstreamMetric>> = {
  dial_duration_seconds: { type: 'histogram', buckets: LATENCY },
  frontend_write_duration_seconds: { type: 'histogram', buckets: LATENCY },
  connection_duration_seconds: {
    type: 'histogram',
    buckets: ['1', '5', '15', '30', '60', '300', '900', '1800', '3600', '14400', '43200', '86400', '+Inf'],
  },
  grpc_connections: { type: 'gauge', labels: ['service_method'] },
  http_connections: { type: 'gauge' },
  ready_backend_connections: { type: 'gauge' },
  ready_backends: { type: 'gauge', labels: ['proxy_strategy'] },
  pending_backend_dials: { type: 'gauge' },
  established_connections: { type: 'gauge' },
  full_receive_channels: { type: 'gauge', labels: ['service_method'] },
  dial_failure_count: { type: 'counter', labels: ['reason'] },
  stream_packets_total: { type: 'counter', labels: ['packet_type', 'segment'] },
  stream_errors_total: { type: 'counter', labels: ['code', 'packet_type', 'segment'] },
  culled_leases_count: { type: 'counter' },
  lease_list_total: { type: 'counter', labels: ['http_status_code', 'reason'] },
  lease_list_latency_seconds: { type: 'histogram', buckets: DEFAULTS },
  lease_delete_total: { type: 'counter', labels: ['http_status_code', 'reason'] },
  lease_delete_latency_seconds: { type: 'histogram', buckets: DEFAULTS },
};

/** The same for the agent. */
export const upstreamAgentMetrics: Readonly<Record<string, UpstreamMetric>> = {
  dial_duration_seconds: {
    type: 'histogram',
    buckets: ['0.005', '0.025', '0.1', '0.5', '2.5', '10', '30', '+Inf'],
  },
  server_connection_failure_count: { type: 'counter', labels: ['direction'] },
  endpoint_dial_failure_total: { type: 'counter', labels: ['reason'] },
  open_server_connections: { type: 'gauge' },
  known_server_count: { type: 'gauge' },
  open_endpoint_connections: { type: 'gauge' },
  stream_packets_total: { type: 'counter', labels: ['packet_type', 'segment'] },
  stream_errors_total: { type: 'counter', labels: ['code', 'packet_type', 'segment'] },
  lease_lists_total: { type: 'counter', labels: ['http_response_code', 'reason'] },
  lease_watches_total: { type: 'counter', labels: ['http_response_code', 'reason'] },
  lease_list_latency_seconds: {
    type: 'histogram',
    buckets: ['0.005', '0.025', '0.1', '0.5', '2.5', '10', '30', '+Inf'],
  },
};

/** A scrape, read: values by name and sorted labels, types by name. */
export class Exposition {
  readonly types = new Map<string, string>();
  readonly values = new Map<string, number>();

  constructor(text: string) {
    for (const line of text.split('\n')) {
      const type = /^# TYPE (\S+) (\S+)$/.exec(line);
      if (type !== null) this.types.set(type[1] as string, type[2] as string);
      const sample = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (sample !== null) this.values.set(key(sample[1] as string, sample[2] ?? ''), Number(sample[3]));
    }
  }

  /** `name` or `name{label="value",...}` with the labels in the order of the alphabet. */
  value(of: string): number | undefined {
    return this.values.get(of);
  }

  /** Names that begin with `prefix`, without it. */
  names(prefix: string): string[] {
    return [...this.types.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
  }

  /** Checks that everything in the list is exposed under `prefix` as the list says, and nothing else is there. */
  holds(prefix: string, list: Readonly<Record<string, UpstreamMetric>>): void {
    assert.deepEqual(this.names(prefix).sort(), Object.keys(list).sort());
    for (const [name, { type, labels = [], buckets }] of Object.entries(list)) {
      const full = prefix + name;
      assert.equal(this.types.get(full), type, name);
      const found = [...this.values.keys()].filter(
        (one) =>
          one.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, '') === full.replace(/_count$/, '') ||
          one.replace(/\{.*/, '') === full,
      );
      if (buckets !== undefined) {
        const bounds = found
          .filter((one) => one.includes('_bucket'))
          .map((one) => /le="([^"]*)"/.exec(one)?.[1]);
        assert.deepEqual(bounds, buckets, name);
        continue;
      }
      assert.ok(found.length > 0, `${name} has no sample`);
      for (const sample of found) {
        const names = [...sample.matchAll(/(\w+)="/g)].map((match) => match[1]);
        assert.deepEqual(names, [...labels], sample);
      }
    }
  }
}

function key(name: string, labels: string): string {
  if (labels === '') return name;
  return `${name}{${[...labels.matchAll(/\w+="[^"]*"/g)]
    .map((match) => match[0])
    .sort()
    .join(',')}}`;
}
