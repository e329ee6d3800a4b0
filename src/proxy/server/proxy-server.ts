import type { X509Certificate } from 'node:crypto';
import { Descriptors } from '../ops/descriptors.ts';
import type { Listener } from '../ops/listener.ts';
import type { Log } from '../ops/log.ts';
import { Newcomers } from '../ops/newcomers.ts';
import { Buffers } from '../wire/buffers.ts';
import { Acceptors } from './acceptors.ts';
import { AgentChanges } from './agent-changes.ts';
import type { Backend } from './backend.ts';
import { Backends } from './backends.ts';
import { DialDesk } from './dial-desk.ts';
import { type DirectoryLock, lockDirectory } from './drain/directory-lock.ts';
import { DrainControl } from './drain/drain-control.ts';
import { type EndedTunnel, MOST_ENDED_TUNNELS } from './ended-tunnel.ts';
import { EventLog } from './event-log.ts';
import { type QuietWait, waitForQuiet } from './quiet-wait.ts';
import { type Readiness, readiness } from './readiness.ts';
import { RecentRing } from './recent-ring.ts';
import { ServerCounters } from './server-counters.ts';
import { type ServerMetrics, serverMetrics } from './server-metrics.ts';
import type { ProxyServerOptions } from './server-options.ts';
import { Tails } from './tails.ts';

/**
 * The proxy server: frontends dial in, agents connect, dials are given to agents by the strategies. Owns every
 * listener, stream and socket that it opened or accepted, and closes them.
 */
export class ProxyServer {
  readonly options: ProxyServerOptions;
  readonly counters = new ServerCounters();
  readonly events = new EventLog();
  /** Which agents changed, for who watches. */
  readonly changes = new AgentChanges();
  readonly endedTunnels = new RecentRing<EndedTunnel>(MOST_ENDED_TUNNELS);
  readonly startedAtUnixMs = Date.now();
  readonly backends: Backends;
  readonly drain: DrainControl;
  #stateLock: DirectoryLock | undefined;
  readonly buffers: Buffers;
  readonly descriptors: Descriptors;
  readonly metrics: ServerMetrics;
  readonly #log: Log;
  readonly #acceptors: Acceptors;
  readonly #listeners: Listener[] = [];
  #agentListener: Listener | undefined;
  #stopping = false;
  /** Tunnels' ends that are on their way to clients. */
  readonly #tails: Tails;
  #wait: QuietWait | undefined;

  constructor(options: ProxyServerOptions, log: Log) {
    this.options = options;
    this.#log = log.named('proxy-server');
    this.buffers = new Buffers(options.bounds);
    this.descriptors = new Descriptors(log.named('descriptors'), options.descriptors);
    this.backends = new Backends({
      strategies: options.strategies,
      selection: {
        drainingFallback: options.drainingFallback,
        backendChoice: options.backendChoice,
        load: (backend) => backend.load,
      },
      secondStreamWaitMs: options.times.secondStreamWaitMs,
      probeTimes: options.times.probe,
      orders: {
        connecting: (backend) => this.drain.connecting(backend),
        joined: (backend) => this.drain.sightings.joined(backend.agentId),
        heard: (backend, status) => this.drain.heard(backend, status),
        disconnected: (backend) => this.drain.disconnected(backend),
      },
      changes: this.changes,
      onEvent: (type, fields) => this.events.add(type, fields),
      onUnknownAnswer: () => this.counters.unknownAnswer(),
      log: log.named('backends'),
    });
    this.drain = new DrainControl({
      registry: this.backends.registry,
      drainingFallback: options.drainingFallback,
      log: log.named('drain-control'),
      stateDirectory: options.stateDirectory,
      ...options.drain,
      onEvent: ({ type, ...fields }) => this.events.add(type, fields),
    });
    this.metrics = serverMetrics(this.counters, this.backends, this.drain, options.version);
    this.drain.onChange((agentId) => this.changes.touchReadiness(agentId));
    const desk = new DialDesk({
      backends: this.backends,
      counters: this.counters,
      log: log.named('dial-desk'),
      timeoutMs: options.times.dialTimeoutMs,
      buffers: this.buffers,
      halfCloseTimeoutMs: options.times.halfCloseTimeoutMs,
      descriptors: this.descriptors,
      ended: this.endedTunnels,
      changes: this.changes,
      accepting: () => !this.#stopping,
      // The end is told before the frontend has its tail to deliver.
      onQuiet: () => queueMicrotask(() => this.#wait?.look()),
    });
    this.#tails = new Tails(() => this.#wait?.look(), log.named('tails'));
    this.#acceptors = new Acceptors({
      options,
      backends: this.backends,
      counters: this.counters,
      desk,
      log: log.named('acceptors'),
      accepting: () => !this.#stopping,
      descriptors: this.descriptors,
      newcomers: (what) => this.newcomers(what),
      tails: this.#tails,
      buffers: this.buffers,
    });
  }

  /** For one more listener of this process. */
  newcomers(what: string, most?: number): Newcomers {
    return new Newcomers(this.descriptors, this.#log.named('newcomers'), what, most);
  }

  /** The port that agents connect to; known after start(). */
  get agentPort(): number {
    return this.#agentListener?.port ?? 0;
  }

  /** Where frontends dial, in the order of the options; known after start(). */
  get frontendListeners(): readonly Listener[] {
    return this.#listeners;
  }

  get readiness(): Readiness {
    return readiness(this.backends, this.#stopping);
  }

  /** Certificates that listeners show; known after start(). */
  get certificates(): readonly X509Certificate[] {
    return this.#acceptors.certificates;
  }

  /** Whether one of these CAs (PEM) also signs agents. */
  sharesAgentCa(pem: string): boolean {
    const agents = new Set(certificatesIn(this.#acceptors.agentCa));
    return certificatesIn(pem).some((one) => agents.has(one));
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Opens every listener. @throws Fault; nothing is left open then. */
  async start(): Promise<void> {
    try {
      const { stateDirectory = '', drain } = this.options;
      // A disk of a test is nobody else's.
      if (stateDirectory !== '' && drain?.disk === undefined) {
        this.#stateLock = await lockDirectory(stateDirectory, this.#log);
      }
      await this.drain.open();
      for (const frontend of this.options.frontends) {
        this.#listeners.push(await this.#acceptors.listenFrontend(frontend));
      }
      this.#agentListener = await this.#acceptors.listenAgents();
      this.events.add('server-started', { message: `server ${this.options.serverId} started` });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /**
   * Takes no new dials and waits until the last tunnel and dial ended and their last bytes are delivered, the time is
   * over (0 = at once), or `hurry` is aborted; then closes everything.
   */
  async shutdown(graceMs: number, hurry: AbortSignal): Promise<void> {
    this.#stopping = true;
    this.events.add('server-stopping', { message: 'the server was told to stop' });
    if (graceMs > 0) {
      const untilMs = performance.now() + graceMs;
      await this.#finishTunnels(graceMs, hurry);
      await this.#finishUploads(Math.min(untilMs - performance.now(), this.options.times.lingerMs), hurry);
    }
    await this.close();
  }

  async #finishTunnels(withinMs: number, hurry: AbortSignal): Promise<void> {
    const { counters } = this;
    const left = (): number => counters.establishedTunnels + counters.pendingDials;
    if (left() > 0) {
      this.#log.info(1, 'Stopping: no new dials; waiting for what is left', {
        left: left(),
        graceSeconds: withinMs / 1000,
      });
    }
    this.#wait = waitForQuiet(() => left() + this.#tails.left === 0, withinMs, hurry);
    await this.#wait.over;
  }

  /** What went to an agent just before its tunnel ended has arrived when the agent answers a question behind it. */
  async #finishUploads(withinMs: number, hurry: AbortSignal): Promise<void> {
    const sinceMs = performance.now() - this.options.times.lingerMs;
    const waiting = new Set<Backend>();
    for (const backend of this.backends.all()) {
      if (backend.lastTunnelEndMs < sinceMs || this.backends.isSuspect(backend)) continue;
      waiting.add(backend);
      backend.whenHeard(() => {
        waiting.delete(backend);
        this.#wait?.look();
      });
    }
    this.#wait = waitForQuiet(() => waiting.size === 0, withinMs, hurry);
    await this.#wait.over;
  }

  /** Closes listeners, tunnels and streams at once. */
  async close(): Promise<void> {
    this.#stopping = true;
    for (const backend of this.backends.all()) {
      for (const tunnel of [...backend.tunnels.values()]) tunnel.close('stopping');
    }
    this.backends.endAll();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    await this.#agentListener?.close();
    await this.#acceptors.close();
    await this.drain.close();
    await this.#stateLock?.close();
    this.metrics.close();
  }
}

/** The base64 of each certificate of a bundle: the same one in any layout. */
function certificatesIn(pem: string): string[] {
  const found = pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g);
  return [...found].map(([, base64 = '']) => base64.replace(/\s/g, ''));
}
