import type { Socket } from 'node:net';
import { Fault } from '../ops/fault.ts';
import type { Log } from '../ops/log.ts';
import { RepeatedLine } from '../ops/repeated-line.ts';
import { Buffers } from '../wire/buffers.ts';
import type { WireOrder } from '../wire/order.ts';
import { blankStatus, type Status } from '../wire/packet.ts';
import { AgentCounts } from './agent-counts.ts';
import type { ProxyAgentOptions } from './agent-options.ts';
import type { MakeLink } from './connect-server.ts';
import { DrainedStreams } from './drained-streams.ts';
import type { Endpoint } from './endpoint.ts';
import { Leaving } from './leaving.ts';
import { OrderKeeper } from './order-keeper.ts';
import { Replacements } from './replacements.ts';
import { ServerLink, type ServerLinkOptions } from './server-link.ts';
import { ServerProbes } from './server-probes.ts';
import { statusWords } from './server-refusal.ts';
import { ServerSet } from './server-set.ts';
import { StatusAnnouncer } from './status-announcer.ts';

/** Failed dials of one kind that are printed within a minute; from verbosity 4 on all are. */
const FAILED_DIALS_PRINTED = 10;

/** What an agent needs from outside. */
export interface ProxyAgentParts {
  /** Opens a Connect stream to whichever server answers; makes the link with `options`. */
  connectServer(makeLink: MakeLink, signal: AbortSignal): Promise<ServerLink>;
  /** Connects to a destination. Rejects with a Fault. */
  connectDestination(address: string, signal: AbortSignal): Promise<Socket>;
  readonly log: Log;
}

/** How an agent came to its end. */
export type AgentEnd = 'left' | 'stopped';

/**
 * The proxy agent: one stream to each server, and the endpoints that they ask for. The drain signal exists from the
 * start, so no check for it can be skipped because it is not set yet.
 */
export class ProxyAgent {
  readonly options: ProxyAgentOptions;
  readonly counts = new AgentCounts();
  readonly servers: ServerSet;
  readonly buffers: Buffers;
  /** Why the last attempt to reach a server failed, or a stream was lost; undefined after a success. */
  lastFault: Fault | undefined;
  readonly #parts: ProxyAgentParts;
  readonly #log: Log;
  readonly #droppedTails: RepeatedLine;
  readonly #failedDials: RepeatedLine;
  readonly #drain = new AbortController();
  readonly #stop = new AbortController();
  readonly #leaving: Leaving;
  readonly #orders: OrderKeeper;
  readonly #drainedStreams: DrainedStreams;
  readonly #replacements = new Replacements(() => this.servers.links.values());
  readonly #announcer: StatusAnnouncer;
  readonly #probes: ServerProbes;
  /** Streams that have not ended, those that never joined the set too. */
  readonly #links = new Set<ServerLink>();
  /** Endpoints whose socket is not closed. */
  readonly #endpoints = new Set<Endpoint>();
  #deadlineOver = false;
  #pendingDials = 0;
  #liveTunnels = 0;

  constructor(options: ProxyAgentOptions, parts: ProxyAgentParts) {
    this.options = options;
    this.buffers = new Buffers(options.bounds);
    this.#parts = parts;
    this.#log = parts.log.named('proxy-agent');
    this.#droppedTails = new RepeatedLine(this.#log, { burst: FAILED_DIALS_PRINTED });
    this.#failedDials = new RepeatedLine(this.#log, { burst: FAILED_DIALS_PRINTED });
    this.servers = new ServerSet({
      connect: (signal) => parts.connectServer(this.#makeLink, signal),
      times: options.times,
      syncForever: options.syncForever,
      countLeases: options.countLeases,
      log: parts.log.named('server-set'),
      onJoin: (link) => this.#onJoin(link),
      onFailure: (fault) => {
        this.lastFault = fault;
        this.counts.failedConnects++;
      },
    });
    this.#announcer = new StatusAnnouncer(
      () => this.status,
      () => this.servers.links.values(),
      options.times.statusIntervalMs,
    );
    this.#probes = new ServerProbes(options.times, parts.log.named('server-probes'));
    this.#orders = new OrderKeeper(parts.log.named('order-keeper'));
    this.#drainedStreams = new DrainedStreams({
      links: () => this.servers.links.values(),
      draining: () => this.leaving || this.#orders.inForce,
      remake: (link) => void link.close(options.times.closeMs),
      log: parts.log.named('drained-streams'),
    });
    this.#leaving = new Leaving({
      times: options.times,
      drainTimeoutMs: options.drainTimeoutMs,
      log: parts.log.named('leaving'),
      links: () => [...this.servers.links.values()],
      busy: () => this.#liveTunnels + this.#pendingDials,
      onDone: (deadline) => {
        this.#deadlineOver = deadline;
        this.#stop.abort();
      },
    });
  }

  /** True from the drain signal on. */
  get leaving(): boolean {
    return this.#drain.signal.aborted;
  }

  /** Since when, in words for logs and readiness; undefined when not leaving. */
  get leavingSince(): Date | undefined {
    return this.#leaving.since;
  }

  /** The drain order in force. */
  get order(): WireOrder | null {
    return this.#orders.order;
  }

  get status(): Status {
    return {
      ...blankStatus(),
      ...this.#orders.status,
      stillDraining: this.#drainedStreams.servers,
      leaving: this.leaving,
      tunnels: this.#liveTunnels,
      pendingDials: this.#pendingDials,
      serverIds: [...this.servers.links.keys()],
      replacements: this.#replacements.least,
    };
  }

  /** Streams to servers whose last probe was answered. */
  get healthyStreams(): number {
    let healthy = 0;
    for (const link of this.servers.links.values()) if (!this.#probes.isSuspect(link)) healthy++;
    return healthy;
  }

  /**
   * Runs until the agent left (drain) or was stopped, and closes everything then.
   * @param stop ends the agent at once
   */
  async run(stop: AbortSignal): Promise<AgentEnd> {
    const onStop = (): void => {
      this.#stop.abort();
      this.#drain.abort();
    };
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop);
    try {
      await this.servers.run(this.#drain.signal);
      if (!this.#stop.signal.aborted) {
        await new Promise((resolve) => this.#stop.signal.addEventListener('abort', resolve, { once: true }));
      }
    } finally {
      stop.removeEventListener('abort', onStop);
    }
    await this.#close(stop);
    return stop.aborted ? 'stopped' : 'left';
  }

  /**
   * The drain signal: says so on every stream, makes no new ones, goes on serving what is there and what still comes,
   * and ends when nothing is left (DESIGN: Leaving agent). Cannot be undone. Idempotent.
   */
  leave(): void {
    if (this.leaving) return;
    this.#drain.abort();
    this.#drainChanged();
    this.#leaving.begin();
    this.#announcer.now();
  }

  readonly #makeLink: MakeLink = (server, stream, release) => {
    const link = new ServerLink(server, stream, release, this.#linkOptions());
    this.#links.add(link);
    // The first packet on a stream lets the server choose it. Not one that is closed again at once.
    if (this.servers.links.has(server.serverId)) return link;
    link.announce({
      ...this.status,
      serverIds: [...new Set([...this.servers.links.keys(), server.serverId])],
      // That server has not said anything yet.
      replacements: -1,
    });
    return link;
  };

  #onJoin(link: ServerLink): void {
    this.lastFault = undefined;
    const { server } = link;
    this.#log.info(1, 'Connected to server', {
      serverID: server.serverId,
      serverCount: server.serverCount,
      version: server.version ?? 'go',
    });
    this.#probes.add(link);
    this.#announcer.changed();
  }

  #linkOptions(): ServerLinkOptions {
    return {
      connect: (address, signal) => this.#connect(address, signal),
      buffers: this.buffers,
      times: this.options.times,
      onDial: (_link, dialId, address) => {
        this.#pendingDials++;
        this.counts.dials++;
        this.#changed();
        this.#log.info(4, 'Dial', { dialID: dialId, address });
      },
      onDialEnd: (_link, dialId, address, endpoint, fault) => {
        this.#pendingDials--;
        if (endpoint !== undefined) {
          this.#liveTunnels++;
          this.counts.tunnels++;
          this.counts.openEndpoints++;
          this.#endpoints.add(endpoint);
        } else if (fault !== undefined) {
          this.counts.failedDials++;
          if (fault.code === 'timeout' || fault.code === 'dns-timeout') this.counts.timedOutDials++;
          this.#dialFailed(dialId, address, fault);
        }
        this.#changed();
      },
      onTunnelEnd: (_link, endpoint, reason) => {
        this.#liveTunnels--;
        this.#changed();
        this.#log.info(4, 'Tunnel closed', {
          dialID: endpoint.dialId,
          connectID: endpoint.connectId,
          address: endpoint.address,
          reason,
        });
      },
      onTailDropped: (_link, endpoint, bytes, why) => {
        const { dialId: dialID, connectId: connectID, address } = endpoint;
        const fields = { dialID, connectID, address, bytes, why };
        this.#droppedTails.info(why, 1, 'Dropped what a destination did not take', fields);
      },
      onEndpointClosed: (_link, endpoint) => {
        this.counts.openEndpoints--;
        this.#endpoints.delete(endpoint);
      },
      onStatus: () => {
        this.#announcer.changed();
        this.#leaving.changed();
      },
      onOrder: (link, change) => {
        if (!this.#orders.apply(change, link.server.serverId)) return;
        this.#drainChanged();
        this.#announcer.soon();
        this.#drainedStreams.changed();
      },
      onRoom: () => this.#drainedStreams.changed(),
      onEnd: (link, end) => {
        this.#probes.remove(link);
        this.#links.delete(link);
        const { serverId } = link.server;
        if (link.closing) this.servers.remake(link);
        else if (this.servers.links.get(serverId) === link && !this.#stop.signal.aborted) {
          const reason = statusWords(end.code, end.details);
          this.lastFault = new Fault('server-lost', `lost the stream to server ${serverId}: ${reason}`);
          this.#log.info(1, 'Lost the stream to a server', { serverID: serverId, reason });
        }
        this.servers.lost(link);
        this.#changed();
      },
    };
  }

  /** A destination's connection, and how long it took. */
  async #connect(address: string, signal: AbortSignal): Promise<Socket> {
    const startedMs = performance.now();
    const socket = await this.#parts.connectDestination(address, signal);
    this.counts.dialSeconds.observe((performance.now() - startedMs) / 1000);
    return socket;
  }

  #dialFailed(dialId: bigint, address: string, fault: Fault): void {
    const fields = { dialID: dialId, address, reason: fault.message };
    if (this.#log.enabled(4)) this.#log.info(4, 'Dial failed', fields);
    else this.#failedDials.info(fault.code, 2, 'Dial failed', fields);
  }

  #drainChanged(): void {
    this.#replacements.drainsFor(this.leaving ? 'leaving' : (this.order?.id ?? ''));
  }

  #changed(): void {
    this.#announcer.changed();
    this.#leaving.changed();
    this.#drainedStreams.changed();
  }

  /** Ends all streams. What is left for destinations is still written, unless the agent was stopped or out of time. */
  async #close(stop: AbortSignal): Promise<void> {
    this.#drain.abort();
    this.#leaving.end();
    this.#announcer.stop();
    this.#probes.stop();
    const links = [...this.#links];
    if (stop.aborted) for (const link of links) link.cutAll('stopping');
    await Promise.all(links.map((link) => link.close(this.options.times.closeMs)));
    if (!this.#deadlineOver) await this.#written(stop);
    await Promise.all([...this.#endpoints].map((endpoint) => endpoint.discard()));
  }

  /** Resolves when the kernel has all bytes for destinations, but for those that take nothing for `lingerMs`; or at the signal. */
  async #written(stop: AbortSignal): Promise<void> {
    if (stop.aborted) return;
    let onStop = (): void => {};
    const stopped = new Promise<void>((resolve) => {
      onStop = resolve;
      stop.addEventListener('abort', onStop, { once: true });
    });
    const { lingerMs } = this.options.times;
    await Promise.race([stopped, Promise.all([...this.#endpoints].map((one) => one.whenWritten(lingerMs)))]);
    stop.removeEventListener('abort', onStop);
  }
}
