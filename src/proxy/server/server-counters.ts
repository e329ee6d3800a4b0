import { PlainHistogram } from '../ops/plain-histogram.ts';
import { type CloseReason, closeReasons } from '../wire/close-reason.ts';
import { StreamCounts } from '../wire/stream-counts.ts';
import type { DialFailureReason } from './dial-failure.ts';
import { RecentTimes } from './recent-times.ts';

// Upstream's buckets, in seconds.
const LATENCY_SECONDS = [1e-6, 1e-5, 1e-4, 0.005, 0.025, 0.1, 0.5, 2.5, 12.5];
const DURATION_SECONDS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 14400, 43200, 86400];

/** What the server counts. Plain numbers, so that the packet path pays nothing; the metrics read them when scraped. */
export class ServerCounters {
  pendingDials = 0;
  establishedTunnels = 0;
  dialsStarted = 0;
  dialsSucceeded = 0;
  fallbackDials = new Map<string, number>();
  /** Open Proxy streams and CONNECT sockets. */
  grpcFrontends = 0;
  connectFrontends = 0;
  readonly dialFailures = new Map<DialFailureReason, number>();
  readonly closedTunnels = new Map<CloseReason, number>(closeReasons.map((reason) => [reason, 0]));
  /** Connect streams, and Proxy streams. */
  readonly agents = new StreamCounts();
  readonly clients = new StreamCounts();
  /** From a dial's start to its tunnel. */
  readonly dialSeconds = new PlainHistogram(LATENCY_SECONDS);
  /** The same, of the last dials. */
  readonly recentDials = new RecentTimes();
  /** Of DATA to frontends: 0 when it was taken over at once, else the time until the frontend had room again. */
  readonly frontendWriteSeconds = new PlainHistogram(LATENCY_SECONDS);
  /** From a tunnel's begin to its end. */
  readonly tunnelSeconds = new PlainHistogram(DURATION_SECONDS);

  /** Answers to dials that nobody waited for any more; upstream counts them among failed dials. */
  unknownAnswers = 0;

  unknownAnswer(): void {
    this.unknownAnswers++;
    this.dialFailed('unrecognized_response');
  }

  dialFailed(reason: DialFailureReason): void {
    this.dialFailures.set(reason, (this.dialFailures.get(reason) ?? 0) + 1);
  }

  tunnelClosed(reason: CloseReason): void {
    this.closedTunnels.set(reason, (this.closedTunnels.get(reason) ?? 0) + 1);
  }

  fallback(strategy: string): void {
    this.fallbackDials.set(strategy, (this.fallbackDials.get(strategy) ?? 0) + 1);
  }
}
