import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type AgentTimes, defaultAgentTimes } from '../../src/proxy/agent/agent-options.ts';
import { connectServer } from '../../src/proxy/agent/connect-server.ts';
import { connectDestination } from '../../src/proxy/agent/destination.ts';
import { type AgentEnd, ProxyAgent } from '../../src/proxy/agent/proxy-agent.ts';
import { createResolver } from '../../src/proxy/agent/resolver.ts';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import { createLog } from '../../src/proxy/ops/log.ts';
import { connectFault } from '../../src/proxy/ops/tls-errors.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { type BufferBounds, defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { Inbox } from './inbox.ts';
import type { ScriptedServer } from './scripted-server.ts';

/** What a test may change of the agent. */
export interface TestAgentOptions {
  agentId?: string;
  identifiers?: string;
  times?: Partial<AgentTimes>;
  bounds?: BufferBounds;
  publicStreams?: boolean;
  syncForever?: boolean;
  countLeases?: 'default' | 'max';
  drainTimeoutMs?: number;
  /** Where to connect instead of the server's own address. */
  port?: number;
  host?: string;
  caFile?: string;
  token?: () => Promise<string | undefined>;
  /** Instead of connecting for real. */
  connectDestination?: (address: string, signal: AbortSignal) => Promise<Socket>;
}

/** Times of milliseconds where the real ones are of seconds; what a test does not expect to happen stays long. */
const shrunk: AgentTimes = {
  ...defaultAgentTimes,
  syncIntervalMs: 5,
  syncIntervalCapMs: 20,
  firstRetriesMs: [2, 5],
  retryMs: 10,
  statusIntervalMs: 1,
  leaveReplacedMs: 5,
  // Long enough that a test that waits for it by mistake fails.
  leaveLingerMs: 60_000,
  closeMs: 60_000,
};

/** A running agent of ours, and what it logged. */
export class TestAgent {
  readonly agent: ProxyAgent;
  readonly lines = new Inbox<string>();
  /** Resolves when it ended by itself or was stopped. */
  readonly ended: Promise<AgentEnd>;
  readonly #stop = new AbortController();

  constructor(server: ScriptedServer, options: TestAgentOptions = {}) {
    const { agentId = 'agent-1', identifiers = '', publicStreams = false } = options;
    const times = { ...shrunk, ...options.times };
    const resolver = createResolver({ servers: ['127.0.0.1:9'] });
    const connectReal = (address: string, signal: AbortSignal): Promise<Socket> =>
      connectDestination(address, { resolver, signal, timeoutMs: times.dialTimeoutMs });
    let lastError: unknown;
    this.agent = new ProxyAgent(
      {
        agentId,
        identifiers,
        version: 'test',
        syncForever: options.syncForever ?? false,
        countLeases: options.countLeases,
        publicStreams,
        drainTimeoutMs: options.drainTimeoutMs ?? 0,
        bounds: options.bounds ?? defaultBufferBounds,
        times,
      },
      {
        log: createLog({ verbosity: 4, write: (line) => this.lines.push(line) }),
        connectDestination: options.connectDestination ?? connectReal,
        connectServer: (makeLink, signal) =>
          connectServer(
            {
              host: options.host ?? '127.0.0.1',
              port: options.port ?? server.port,
              credentials: () => {
                lastError = undefined;
                const caFile = options.caFile ?? server.ca.certFile;
                const tls = loadClientTls({ caFile, labels: { cert: 'cert', key: 'key', ca: 'ca' } });
                return channelCredentials(tls, {
                  onError: (error) => {
                    lastError = error;
                  },
                });
              },
              agentId,
              identifiers,
              version: 'test',
              instance: randomBytes(8).toString('hex'),
              token: options.token ?? (async () => undefined),
              publicStreams,
              keepaliveMs: 3_600_000,
              timeoutMs: times.connectTimeoutMs,
              translate: (error, where) => connectFault(lastError ?? error.details, where),
            },
            makeLink,
            signal,
          ),
      },
    );
    this.ended = this.agent.run(this.#stop.signal).finally(() => resolver.close());
  }

  /** Resolves when the agent logs a line with that text. */
  logged(text: string): Promise<string> {
    return this.lines.next((line) => line.includes(text));
  }

  /** The second signal. */
  async stop(): Promise<AgentEnd> {
    this.#stop.abort();
    return this.ended;
  }
}
