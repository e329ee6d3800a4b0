/** What the bench and its two workers, load generator and destination, say to each other. */

/** `grpc` dials on a new connection each, `grpc-shared` all on one. All on Unix sockets but for `connect-mtls`. */
export const FRONTENDS = ['connect', 'grpc', 'grpc-shared', 'connect-mtls'] as const;
export type FrontendKind = (typeof FRONTENDS)[number];

/** What kube-apiserver shows and trusts on a TCP frontend. */
export interface ClientTlsFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Where the load goes in: through a server's frontend, or straight to the destination. */
export type Entry = (
  | { readonly kind: 'connect' | 'grpc' | 'grpc-shared'; readonly socketPath: string }
  | { readonly kind: 'connect-mtls'; readonly port: number; readonly tls: ClientTlsFiles }
  /** `through`: ports of relays, by the port of the destination that they lead to. */
  | { readonly kind: 'direct'; readonly through?: Readonly<Record<number, number>> }
) & {
  /** Dialled in turn; DESTINATION_HOSTS unless given. */
  readonly hosts?: readonly string[];
};

export type Traffic = 'down' | 'up' | 'echo' | 'dials';

/** Load that is run beside dials, to see what it does to them. */
export type Disturbance =
  | 'down'
  | 'up'
  /** Downloads that the frontend does not read. */
  | 'stalled-frontend'
  /** Uploads that the destination does not read. */
  | 'stalled-destination'
  /** Dials to an address where connects hang. */
  | 'black-hole'
  /** Downloads of 5 MB, each with bytes of its own, which are compared. */
  | 'downloads';

/**
 * What the destination does with what it gets. A source waits for a line with the bytes wanted; 0 is endless. A second
 * number in it chooses the pattern that is sent (pattern.ts).
 */
export type DestinationMode = 'sink' | 'source' | 'echo' | 'stall';
export type DestinationPorts = Readonly<Record<DestinationMode, number>>;

export interface LoadOrder {
  readonly traffic: Traffic | Disturbance | 'keystrokes' | 'idle';
  /** Tunnels at once. */
  readonly tunnels: number;
  readonly entry: Entry;
  readonly ports: DestinationPorts;
  /** Where connects hang; for `black-hole` only. */
  readonly hole?: Address;
}

export interface Address {
  readonly host: string;
  readonly port: number;
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
  readonly maxUs: number;
}

export const NO_LATENCIES: LatencySummary = { p50Us: 0, p99Us: 0, maxUs: 0 };

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The addresses of the destination: 127.0.0.2 to 127.0.0.60, so that one's TIME_WAIT does not slow the next dial. */
export const DESTINATION_HOSTS: readonly string[] = Array.from({ length: 59 }, (_, i) => `127.0.0.${i + 2}`);

/** Bytes of one message of echo and dials. */
export const ECHO_BYTES = 64;

/** Bytes of one of the concurrent downloads. */
export const DOWNLOAD_BYTES = 5_000_000;
