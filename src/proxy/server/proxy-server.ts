import type { Listener } from '../ops/listener.ts';
import type { Log } from '../ops/log.ts';
import { Acceptors } from './acceptors.ts';
import { Backends } from './backends.ts';
import { DialDesk } from './dial-desk.ts';
import { type Readiness, readiness } from './readiness.ts';
import { ServerCounters } from './server-counters.ts';
import { type ServerMetrics, serverMetrics } from './server-metrics.ts';
import type { ProxyServerOptions } from './server-options.ts';

/**
 * The proxy server: frontends dial in, agents connect, dials are given to agents by the strategies. Owns every
 * listener, stream and socket that it opened or accepted, and closes them.
 */
export class ProxyServer {
  readonly options: ProxyServerOptions;
  readonly counters = new ServerCounters();
  readonly backends: Backends;
  readonly metrics: ServerMetrics;
  readonly #log: Log;
  readonly #acceptors: Acceptors;
  readonly #listeners: Listener[] = [];
  #agentListener: Listener | undefined;
  #stopping = false;
  #onQuiet: () => void = () => {};

  constructor(options: ProxyServerOptions, log: Log) {
    this.options = options;
    this.#log = log.named('server');
    this.backends = new Backends({
      strategies: options.strategies,
      selection: {
        drainingFallback: options.drainingFallback,
        backendChoice: options.backendChoice,
        load: (backend) => backend.load,
      },
      secondStreamWaitMs: options.times.secondStreamWaitMs,
      probeTimes: options.times.probe,
      log: log.named('backends'),
    });
    this.metrics = serverMetrics(this.counters, this.backends);
    const desk = new DialDesk({
      backends: this.backends,
      counters: this.counters,
      log: log.named('dial'),
      timeoutMs: options.times.dialTimeoutMs,
      bounds: options.bounds,
      accepting: () => !this.#stopping,
      onDialSeconds: (seconds) => this.metrics.dialSeconds(seconds),
      onQuiet: () => this.#onQuiet(),
    });
    this.#acceptors = new Acceptors({
      options,
      backends: this.backends,
      counters: this.counters,
      desk,
      log: log.named('accept'),
      accepting: () => !this.#stopping,
    });
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

  /** Opens every listener. @throws Fault; nothing is left open then. */
  async start(): Promise<void> {
    try {
      for (const frontend of this.options.frontends) {
        this.#listeners.push(await this.#acceptors.listenFrontend(frontend));
      }
      this.#agentListener = await this.#acceptors.listenAgents();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /**
   * Takes no new dials and waits until the last tunnel and dial ended, the time is over (0 = at once), or `hurry` is
   * aborted; then closes everything.
   */
  async shutdown(graceMs: number, hurry: AbortSignal): Promise<void> {
    this.#stopping = true;
    const busy = (): number => this.counters.establishedTunnels + this.counters.pendingDials;
    if (graceMs > 0 && busy() > 0 && !hurry.aborted) {
      this.#log.info(1, 'Stopping: no new dials; waiting for what is left', {
        left: busy(),
        graceSeconds: graceMs / 1000,
      });
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          hurry.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, graceMs);
        hurry.addEventListener('abort', done);
        this.#onQuiet = () => {
          if (busy() === 0) done();
        };
      });
    }
    await this.close();
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
  }
}
