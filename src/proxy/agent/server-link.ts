import type { Socket } from 'node:net';
import { Fault } from '../ops/fault.ts';
import type { CloseReason } from '../wire/close-reason.ts';
import { ClosedIds } from '../wire/closed-ids.ts';
import { encodeFrame } from '../wire/encode.ts';
import type { Feature } from '../wire/extension.ts';
import type { BufferBounds } from '../wire/flow.ts';
import { type Packet, PacketType, type Status } from '../wire/packet.ts';
import type { PacketStream, StreamEnd } from '../wire/packet-stream.ts';
import {
  closeDial,
  closeResponse,
  dialFailure,
  dialResponse,
  drain,
  ping,
  pong,
  status,
} from '../wire/packets.ts';
import type { ProbeTarget } from '../wire/probe.ts';
import { Endpoint, type EndpointCarrier } from './endpoint.ts';

/** What a link needs from its agent. */
export interface ServerLinkOptions {
  /** Connects to a destination; aborts at once with the signal. Rejects with a Fault made for people. */
  connect(address: string, signal: AbortSignal): Promise<Socket>;
  readonly bounds: BufferBounds;
  readonly lingerMs: number;
  onDial(link: ServerLink, dialId: bigint, address: string): void;
  /** A dial ended: with a tunnel, or a failure. */
  onDialEnd(
    link: ServerLink,
    dialId: bigint,
    address: string,
    endpoint: Endpoint | undefined,
    fault?: Fault,
  ): void;
  onTunnelEnd(link: ServerLink, endpoint: Endpoint, reason: CloseReason): void;
  onEndpointClosed(link: ServerLink, endpoint: Endpoint): void;
  onStatus(link: ServerLink, status: Status): void;
  onEnd(link: ServerLink, end: StreamEnd): void;
}

/** What the server said of itself in its response headers. */
export interface ServerIdentity {
  readonly serverId: string;
  readonly serverCount: number;
  readonly version: string | undefined;
  readonly features: ReadonlySet<Feature>;
}

/** The one stream to one server, with the dials and endpoints that it asked for. */
export class ServerLink implements EndpointCarrier, ProbeTarget {
  readonly server: ServerIdentity;
  readonly features: ReadonlySet<Feature>;
  heard = true;
  onHeard: ((packet: Packet) => void) | undefined;
  /** The last STATUS of our server: -1 when it said nothing. */
  replacements = -1;
  readonly #stream: PacketStream;
  readonly #options: ServerLinkOptions;
  readonly #release: () => void;
  readonly #dials = new Map<bigint, AbortController>();
  readonly #endpoints = new Map<number, Endpoint>();
  readonly #closed = new ClosedIds();
  readonly #waiting = new Set<Endpoint>();
  #lastConnectId = 0;
  #ended = false;
  #drainSent = false;

  /** @param release closes the stream's connection; called once, when the stream ended */
  constructor(server: ServerIdentity, stream: PacketStream, release: () => void, options: ServerLinkOptions) {
    this.server = server;
    this.features = server.features;
    this.#stream = stream;
    this.#options = options;
    this.#release = release;
    stream.attach({
      onPacket: (packet) => this.#onPacket(packet),
      onDrain: () => this.#onDrain(),
      onEnd: (end) => this.#onEnd(end),
    });
  }

  /** Whether the server speaks our extension. */
  get ours(): boolean {
    return this.features.has('status');
  }

  get open(): boolean {
    return !this.#ended;
  }

  get tunnels(): number {
    return this.#endpoints.size;
  }

  get pendingDials(): number {
    return this.#dials.size;
  }

  send(packet: Packet): boolean {
    return this.#stream.sendFrame(encodeFrame(packet));
  }

  sendFrame(frame: Buffer): boolean {
    return this.#stream.sendFrame(frame);
  }

  waitForDrain(endpoint: Endpoint): void {
    this.#waiting.add(endpoint);
  }

  isWaiting(endpoint: Endpoint): boolean {
    return this.#waiting.has(endpoint);
  }

  ask(number: number, answered: (roundTripMs: number) => void): boolean {
    if (!this.features.has('ping')) return this.#stream.ping(answered);
    this.send(ping(number));
    return true;
  }

  isAnswer(packet: Packet, number: number): boolean {
    return packet.type === PacketType.PONG && packet.amount === number;
  }

  /** Tells the agent's state: STATUS to a server of ours, DRAIN (once) to a Go server. */
  announce(state: Status): void {
    if (this.ours) this.send(status(state));
    else if (state.leaving && !this.#drainSent) {
      this.#drainSent = true;
      this.send(drain());
    }
  }

  /** Closes every tunnel and gives up every dial; the stream stays. */
  cutAll(reason: CloseReason): void {
    for (const controller of this.#dials.values()) controller.abort();
    for (const endpoint of [...this.#endpoints.values()]) endpoint.cut(reason);
  }

  /** Ends the stream in order. */
  end(): void {
    this.#stream.end();
  }

  /** Ends the stream at once. */
  abort(details: string): void {
    this.#stream.abort(1, details);
  }

  #onPacket(packet: Packet): void {
    this.heard = true;
    if (this.onHeard !== undefined) this.onHeard(packet);
    switch (packet.type) {
      case PacketType.DATA: {
        const endpoint = this.#endpoints.get(packet.connectId);
        if (endpoint !== undefined) endpoint.fromServer(packet.data);
        else if (!this.#closed.has(packet.connectId)) this.#unknown(packet.connectId);
        return;
      }
      case PacketType.WINDOW:
        this.#endpoints.get(packet.connectId)?.granted(packet.amount);
        return;
      case PacketType.DIAL_REQ:
        void this.#dial(packet.dialId, packet.address, packet.protocol);
        return;
      case PacketType.DIAL_CLS:
        this.#dials.get(packet.dialId)?.abort();
        return;
      case PacketType.CLOSE_REQ: {
        const endpoint = this.#endpoints.get(packet.connectId);
        if (endpoint !== undefined) endpoint.closedByFrontend();
        else this.#unknown(packet.connectId);
        return;
      }
      case PacketType.PING:
        if (this.features.has('ping')) this.send(pong(packet.amount));
        return;
      case PacketType.STATUS:
        if (packet.status === null || !this.ours) return;
        this.replacements = packet.status.replacements;
        this.#options.onStatus(this, packet.status);
        return;
      default:
    }
  }

  async #dial(dialId: bigint, address: string, protocol: string): Promise<void> {
    if (protocol !== 'tcp') {
      this.send(
        dialFailure(
          dialId,
          `dial ${address}: protocol ${JSON.stringify(protocol)} is not supported, only tcp`,
        ),
      );
      return;
    }
    if (this.#dials.has(dialId)) {
      this.send(dialFailure(dialId, `dial ${address}: a dial with the same ID is pending already`));
      return;
    }
    const controller = new AbortController();
    this.#dials.set(dialId, controller);
    this.#options.onDial(this, dialId, address);
    try {
      const socket = await this.#options.connect(address, controller.signal);
      this.#dials.delete(dialId);
      if (this.#ended || controller.signal.aborted) {
        socket.destroy();
        this.#options.onDialEnd(this, dialId, address, undefined);
        if (!this.#ended) this.send(closeDial(dialId));
        return;
      }
      this.#establish(dialId, address, socket);
    } catch (error) {
      this.#dials.delete(dialId);
      const fault = error instanceof Fault ? error : new Fault('failed', `dial ${address}: ${String(error)}`);
      this.#options.onDialEnd(
        this,
        dialId,
        address,
        undefined,
        controller.signal.aborted ? undefined : fault,
      );
      // A dial that was given up gets no answer beyond the sign that it ended.
      if (!this.#ended)
        this.send(controller.signal.aborted ? closeDial(dialId) : dialFailure(dialId, fault.message));
    }
  }

  #establish(dialId: bigint, address: string, socket: Socket): void {
    const connectId = ++this.#lastConnectId;
    const endpoint = new Endpoint({
      carrier: this,
      connectId,
      dialId,
      address,
      socket,
      bounds: this.#options.bounds,
      lingerMs: this.#options.lingerMs,
      onEnd: (ended, reason) => {
        this.#endpoints.delete(connectId);
        this.#waiting.delete(ended);
        this.#closed.add(connectId);
        this.#options.onTunnelEnd(this, ended, reason);
      },
      onClosed: (ended) => this.#options.onEndpointClosed(this, ended),
    });
    this.#endpoints.set(connectId, endpoint);
    this.#options.onDialEnd(this, dialId, address, endpoint);
    this.send(dialResponse(dialId, connectId));
    endpoint.start();
  }

  #unknown(connectId: number): void {
    this.#closed.add(connectId);
    this.send(closeResponse(connectId, 'Unknown connectID'));
  }

  #onDrain(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const endpoint of waiting) endpoint.linkDrained();
  }

  #onEnd(end: StreamEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const controller of this.#dials.values()) controller.abort();
    for (const endpoint of [...this.#endpoints.values()]) endpoint.serverLost();
    this.#waiting.clear();
    this.#release();
    this.#options.onEnd(this, end);
  }
}
