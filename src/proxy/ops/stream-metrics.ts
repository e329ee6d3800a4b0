import type { Sample, ScrapedMetrics } from './scraped-metrics.ts';

/** Packets and errors of one direction between two kinds of peers, such as from_agent. */
export interface Segment {
  readonly name: 'from_client' | 'to_client' | 'from_agent' | 'to_agent';
  readonly packets: { entries(): Iterable<readonly [string, number]> };
  /** Streams that ended with an error, by gRPC status code; undefined where errors are not seen. */
  readonly errors?: ReadonlyMap<number, number>;
}

/** Upstream's stream_packets_total and stream_errors_total. */
export function streamMetrics(
  metrics: ScrapedMetrics,
  segments: readonly Segment[],
  codeName: (code: number) => string,
): void {
  metrics.counters(
    'stream_packets_total',
    'Count of packets processed, by segment and packet type (example: from_client, DIAL_REQ)',
    function* (): Generator<Sample> {
      for (const segment of segments) {
        for (const [packet_type, value] of segment.packets.entries()) {
          yield { labels: { segment: segment.name, packet_type }, value };
        }
      }
    },
  );
  metrics.counters(
    'stream_errors_total',
    'Count of gRPC stream errors, by segment, grpc Code, packet type. (example: from_agent, Code.Unavailable, DIAL_RSP)',
    function* (): Generator<Sample> {
      for (const segment of segments) {
        for (const [code, value] of segment.errors ?? []) {
          // A send never fails by itself here: the error is that of the stream, as upstream's receiving side has it.
          const labels = { segment: segment.name, code: codeName(code), packet_type: 'Unknown' };
          yield { labels, value };
        }
      }
    },
  );
}
