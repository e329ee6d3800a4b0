/** What the bench and its two workers, load generator and destination, say to each other. */

export const FRONTENDS = ['connect', 'grpc'] as const;
export type FrontendKind = (typeof FRONTENDS)[number];

/** Where the load goes in: through a server's frontend, or straight to the destination. */
export type Entry =
  | { readonly kind: FrontendKind; readonly socketPath: string }
  | { readonly kind: 'direct' };

export type Traffic = 'down' | 'up' | 'echo' | 'dials';

/** What the destination does with what it gets. A source waits for a line with the bytes wanted; 0 is endless. */
export type DestinationMode = 'sink' | 'source' | 'echo';
export type DestinationPorts = Readonly<Record<DestinationMode, number>>;

export interface LoadOrder {
  readonly traffic: Traffic;
  /** Tunnels at once. */
  readonly tunnels: number;
  readonly entry: Entry;
  readonly ports: DestinationPorts;
}

/** A counter and when it was read, by the clock that all processes of a machine share. */
export interface Reading {
  /** Bytes, echoes or dials since the process began. */
  readonly count: number;
  readonly atMs: number;
}

/** Round trips since `mark`, in microseconds; 0 when there were none. */
export interface LatencySummary {
  readonly p50Us: number;
  readonly p99Us: number;
}

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The addresses of the destination: 127.0.0.2 to 127.0.0.60, so that one's TIME_WAIT does not slow the next dial. */
export const DESTINATION_HOSTS: readonly string[] = Array.from({ length: 59 }, (_, i) => `127.0.0.${i + 2}`);

/** Bytes of one message of echo and dials. */
export const ECHO_BYTES = 64;
