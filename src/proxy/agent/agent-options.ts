import type { BufferBounds } from '../wire/buffers.ts';
import { defaultProbeTimes, type ProbeTimes } from '../wire/probe.ts';
import type { ServerCountSource } from './server-count.ts';

/** Time constants of an agent; tests shrink them. */
export interface AgentTimes {
  /** Upstream's --sync-interval and --sync-interval-cap. */
  readonly syncIntervalMs: number;
  readonly syncIntervalCapMs: number;
  /** Delays before the first attempts after a stream was lost; then `retryMs` each until `retryForMs` is over. */
  readonly firstRetriesMs: readonly number[];
  readonly retryMs: number;
  readonly retryForMs: number;
  /** A stream that lived shorter than this and was lost does not begin the quick retries anew. */
  readonly steadyMs: number;
  /** For one attempt: connection, TLS and the server's response headers. */
  readonly connectTimeoutMs: number;
  /** How long a server may take to end a stream that was closed here before it is reset. */
  readonly closeMs: number;
  /** For one dial: name look-up and connection together. */
  readonly dialTimeoutMs: number;
  /** How long a destination may take nothing of what its client sent before its end: it may be paused. */
  readonly tailMs: number;
  /** The same behind a client that broke off; how long a destination may leave its own side open after the end. */
  readonly lingerMs: number;
  /** How long a leaving agent stays after its last tunnel: when its servers say that another can replace it, and not. */
  readonly leaveReplacedMs: number;
  readonly leaveLingerMs: number;
  /** STATUS is sent at most once in this time. */
  readonly statusIntervalMs: number;
  /** Probes towards servers of ours, and how often at most towards Go servers (they enforce 30 s). */
  readonly probe: ProbeTimes;
  readonly goProbeIntervalMs: number;
}

export const defaultAgentTimes: AgentTimes = {
  syncIntervalMs: 1_000,
  syncIntervalCapMs: 10_000,
  firstRetriesMs: [200, 500],
  retryMs: 1_000,
  retryForMs: 120_000,
  steadyMs: 10_000,
  connectTimeoutMs: 10_000,
  closeMs: 1_000,
  dialTimeoutMs: 5_000,
  tailMs: 600_000,
  lingerMs: 30_000,
  leaveReplacedMs: 1_000,
  leaveLingerMs: 10_000,
  statusIntervalMs: 200,
  probe: defaultProbeTimes,
  goProbeIntervalMs: 35_000,
};

/** How to set up an agent. */
export interface ProxyAgentOptions {
  readonly agentId: string;
  /** The URL-encoded query sent as `agentIdentifiers`; empty for none. */
  readonly identifiers: string;
  readonly version: string;
  readonly syncForever: boolean;
  /** How the Leases of servers are counted; undefined: they are not. */
  readonly countLeases?: ServerCountSource | undefined;
  /** Forces the public grpc-js implementation of streams. */
  readonly publicStreams: boolean;
  /** After the drain signal: the rest of the tunnels is closed after this long; 0 = never. */
  readonly drainTimeoutMs: number;
  readonly bounds: BufferBounds;
  readonly times: AgentTimes;
}
