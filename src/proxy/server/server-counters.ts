import { type CloseReason, closeReasons } from '../wire/close-reason.ts';
import type { DialFailureReason } from './dial-failure.ts';

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
