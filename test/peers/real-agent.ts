import { randomBytes } from 'node:crypto';
import { type AgentTimes, defaultAgentTimes } from '../../src/proxy/agent/agent-options.ts';
import { connectServer } from '../../src/proxy/agent/connect-server.ts';
import { connectDestination } from '../../src/proxy/agent/destination.ts';
import { type AgentEnd, ProxyAgent } from '../../src/proxy/agent/proxy-agent.ts';
import { createResolver } from '../../src/proxy/agent/resolver.ts';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { connectFault } from '../../src/proxy/ops/tls-errors.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { type BufferBounds, defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import type { TestServer } from './test-server.ts';

/** What a test may change of the agent. */
export interface RealAgentOptions {
  identifiers?: string;
  times?: Partial<AgentTimes>;
  bounds?: BufferBounds;
  publicStreams?: boolean;
  drainTimeoutMs?: number;
  /** Answer for names that are not in the hosts file; default: nobody does. */
  nameServer?: string;
  /** Connects there instead of to the server itself, and is not waited for. */
  via?: { readonly port: number; readonly caFile: string };
}

/** A running agent of ours, connected to a test's server. */
export interface RealAgent {
  readonly agent: ProxyAgent;
  /** Resolves when it ended by itself or was stopped. */
  readonly ended: Promise<AgentEnd>;
  stop(): Promise<void>;
}

/**
 * Starts an agent and resolves when the server has it ready.
 * @param server undefined where `via` leads to processes
 */
export async function startRealAgent(
  server: TestServer | undefined,
  agentId: string,
  options: RealAgentOptions = {},
): Promise<RealAgent> {
  const { identifiers = '', publicStreams = false, bounds = defaultBufferBounds } = options;
  const times = { ...defaultAgentTimes, ...options.times };
  const tls = loadClientTls({
    caFile: options.via?.caFile ?? server?.caFile ?? '',
    labels: { cert: 'cert', key: 'key', ca: 'ca' },
  });
  const resolver = createResolver({ servers: [options.nameServer ?? '127.0.0.1:9'] });
  // Of the process, as the real one has it.
  const instance = randomBytes(8).toString('hex');
  const agent: ProxyAgent = new ProxyAgent(
    {
      agentId,
      identifiers,
      version: 'test',
      syncForever: false,
      publicStreams,
      drainTimeoutMs: options.drainTimeoutMs ?? 0,
      bounds,
      times,
    },
    {
      log: silentLog,
      connectDestination: (address, signal) => connectDestination(address, { resolver, signal }),
      connectServer: (makeLink, signal) =>
        connectServer(
          {
            host: '127.0.0.1',
            port: options.via?.port ?? server?.server.agentPort ?? 0,
            credentials: () => channelCredentials(tls),
            agentId,
            identifiers,
            version: 'test',
            instance,
            token: async () => undefined,
            publicStreams,
            keepaliveMs: 3_600_000,
            timeoutMs: times.connectTimeoutMs,
            counts: agent.counts.servers,
            translate: (error, where) => connectFault(error.details, where),
          },
          makeLink,
          signal,
        ),
    },
  );
  const stop = new AbortController();
  const ended = agent.run(stop.signal).finally(() => resolver.close());
  const isReady = (): boolean => {
    if (server === undefined) return true;
    const mine = [...server.server.backends.all()].find((backend) => backend.agentId === agentId);
    return mine !== undefined && server.server.backends.registry.stateOf(mine)?.announced === true;
  };
  while (options.via === undefined && !isReady()) await new Promise((resolve) => setImmediate(resolve));
  return {
    agent,
    ended,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}
