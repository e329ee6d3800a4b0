import { PlainHistogram } from '../ops/plain-histogram.ts';
import { StreamCounts } from '../wire/stream-counts.ts';

// Upstream's buckets.
const DIAL_SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 30];

/** What an agent counts, for metrics and tests. */
export class AgentCounts {
  dials = 0;
  failedDials = 0;
  timedOutDials = 0;
  tunnels = 0;
  /** Sockets to destinations that are not yet closed. */
  openEndpoints = 0;
  failedConnects = 0;
  /** From DIAL_REQ to the connection, name look-up included. */
  readonly dialSeconds = new PlainHistogram(DIAL_SECONDS);
  /** Connect streams: received from servers, sent to them. */
  readonly servers = new StreamCounts();
}
