import type { SecureVersion } from 'node:tls';
import type { DescriptorSource } from '../ops/descriptors.ts';
import type { BufferBounds } from '../wire/buffers.ts';
import { defaultProbeTimes, type ProbeTimes } from '../wire/probe.ts';
import type { AgentAuthenticator } from './agent-authenticator.ts';
import type { DrainControlOptions } from './drain/drain-control.ts';
import type { StrategyName } from './selection/strategies.ts';

/** Where kube-apiserver dials. The core takes any number of them; "exactly one" is a rule of the flags. */
export type FrontendAddress =
  | { readonly kind: 'unix'; readonly path: string; readonly deleteExisting: boolean }
  | { readonly kind: 'tls'; readonly host: string; readonly port: number; readonly tls: TlsFiles };

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Who may be a client; empty: no client certificate is asked for. */
  readonly caFile: string;
}

/** One listener for frontends. */
export interface FrontendListener {
  readonly mode: 'grpc' | 'http-connect';
  readonly address: FrontendAddress;
}

/** How to set up a server. Ports may be 0. */
export interface ProxyServerOptions {
  readonly serverId: string;
  readonly serverCount: number;
  readonly version: string;
  readonly frontends: readonly FrontendListener[];
  readonly agents: { readonly host: string; readonly port: number; readonly tls: TlsFiles };
  /** Checks agents beyond TLS; none by default. Whoever made it closes what is behind it. */
  readonly authenticator?: AgentAuthenticator;
  /** For agents and frontends; Node's defaults when left out. */
  readonly tlsMinVersion?: SecureVersion;
  readonly tlsCiphers?: string | undefined;
  readonly strategies: readonly StrategyName[];
  readonly drainingFallback: 'last-resort' | 'strategy';
  readonly backendChoice: 'random' | 'least-loaded';
  /** Forces the public grpc-js implementation of streams. */
  readonly publicStreams: boolean;
  /** HTTP/2 keepalive towards agents and frontends, in milliseconds. */
  readonly keepaliveMs: number;
  readonly frontendKeepaliveMs: number;
  readonly times: ServerTimes;
  readonly bounds: BufferBounds;
  /** Where drain orders are kept through restarts; empty or left out: nowhere. */
  readonly stateDirectory?: string;
  /** Clock, bounds and disk of drain orders; tests give their own. */
  readonly drain?: Pick<DrainControlOptions, 'clock' | 'bounds' | 'disk'>;
  /** Of this process, unless told. */
  readonly descriptors?: DescriptorSource;
}

/** Time constants; tests shrink them. */
export interface ServerTimes {
  /** Both attempts of a dial together; 0 = none (upstream's --backend-dial-timeout). */
  readonly dialTimeoutMs: number;
  /** How long tunnel bytes are held after the answer to a dial. */
  readonly holdMs: number;
  /** A gRPC frontend's stream without DIAL_REQ, a CONNECT head that does not end, a TLS handshake likewise. */
  readonly headTimeoutMs: number;
  /** How long a client may take nothing of a refusal, or leave its own side open after the end. */
  readonly lingerMs: number;
  /** How long a CONNECT client may take nothing of what its destination sent before the end: it may be paused. */
  readonly tailMs: number;
  /** How long a node may be silent after the client ended its side (--half-close-timeout). */
  readonly halfCloseTimeoutMs: number;
  /** How long a CONNECT socket is paused before it is read a little, to see whether its client is gone. */
  readonly peekMs: number;
  /** How long a Go agent's younger stream waits beside an older one before it is chosen. */
  readonly secondStreamWaitMs: number;
  readonly probe: ProbeTimes;
}

export const defaultServerTimes: ServerTimes = {
  dialTimeoutMs: 20_000,
  holdMs: 10,
  headTimeoutMs: 10_000,
  lingerMs: 30_000,
  tailMs: 600_000,
  halfCloseTimeoutMs: 60_000,
  peekMs: 10_000,
  secondStreamWaitMs: 5_000,
  probe: defaultProbeTimes,
};
