import type { Socket } from 'node:net';
import type { Fault } from '../ops/fault.ts';
import { Answers } from '../wire/answers.ts';
import type { Buffers } from '../wire/buffers.ts';
import type { CloseReason } from '../wire/close-reason.ts';
import { encodeFrame } from '../wire/encode.ts';
import type { Feature } from '../wire/extension.ts';
import { Link } from '../wire/link.ts';
import type { OrderChange } from '../wire/order.ts';
import { NO_CONNECT_ID, type Packet, PacketType, type Status } from '../wire/packet.ts';
import type { PacketStream, StreamEnd } from '../wire/packet-stream.ts';
import { closeDial, closeResponse, dialFailure, dialResponse, ping, pong } from '../wire/packets.ts';
import type { ProbeTarget } from '../wire/probe.ts';
import { RecentIds } from '../wire/recent-ids.ts';
import { Announcement } from './announcement.ts';
import {
  Endpoint,
  type EndpointCarrier,
  type EndpointHost,
  type EndpointTimes,
  type TailDrop,
} from './endpoint.ts';
import type { ServerIdentity } from './server-identity.ts';
import { MOST_PENDING_DIALS, StreamDials } from './stream-dials.ts';

/** What a link needs from its agent. */
export interface ServerLinkOptions {
  /** Connects to a destination; aborts at once with the signal. Rejects with a Fault made for people. */
  connect(address: string, signal: AbortSignal): Promise<Socket>;
  readonly buffers: Buffers;
  readonly times: EndpointTimes;
  /** Default 10,000. */
  readonly mostPendingDials?: number;
  /** What may wait of answers that the server asked for and does not read; default 4 MiB. Above, the stream ends. */
  readonly mostAnswerBytes?: number;
  onDial(link: ServerLink, dialId: bigint, address: string): void;
  /** A dial that onDial was told of ended: with a tunnel, a failure, or (neither) cancelled. */
  onDialEnd(
    link: ServerLink,
    dialId: bigint,
    address: string,
    endpoint: Endpoint | undefined,
    fault?: Fault,
  ): void;
  onTunnelEnd(link: ServerLink, endpoint: Endpoint, reason: CloseReason): void;
  /** An ended tunnel's last bytes were given up. */
  onTailDropped(link: ServerLink, endpoint: Endpoint, bytes: number, why: TailDrop): void;
  onEndpointClosed(link: ServerLink, endpoint: Endpoint): void;
  onStatus(link: ServerLink, status: Status): void;
  /** ORDER of a server that may send one. */
  onOrder(link: ServerLink, change: OrderChange): void;
  /** The stream, whose server was told DRAIN, has room again: what waited for it may have gone. */
  onRoom(link: ServerLink): void;
  onEnd(link: ServerLink, end: StreamEnd): void;
}

/** The one stream to one server, with the dials and endpoints that it asked for. */
export class ServerLink implements EndpointCarrier, ProbeTarget {
  readonly server: ServerIdentity;
  readonly features: ReadonlySet<Feature>;
  heard = true;
  onHeard: ((packet: Packet) => void) | undefined;
  /** The last STATUS of our server: -1 when it said nothing. */
  replacements = -1;
  readonly link: Link;
  readonly #stream: PacketStream;
  readonly #options: ServerLinkOptions;
  readonly #release: () => void;
  readonly #dials: StreamDials;
  readonly #host: EndpointHost;
  readonly #endpoints = new Map<number, Endpoint>();
  readonly #closed = new RecentIds<number>();
  /** Towards Go servers: tunnels that no DATA came for yet, by dial ID. */
  readonly #unused = new Map<bigint, Endpoint>();
  readonly #answers: Answers;
  readonly #announcement: Announcement;
  #lastConnectId = 0;
  #closing = false;
  #end: StreamEnd | undefined;
  #onOver: (() => void)[] = [];

  /** @param release closes the stream's connection; called once, when the stream ended */
  constructor(server: ServerIdentity, stream: PacketStream, release: () => void, options: ServerLinkOptions) {
    this.server = server;
    this.features = server.features;
    this.#stream = stream;
    this.link = new Link(stream, 'agent', server.features.has('flow'));
    this.#options = options;
    this.#release = release;
    this.#answers = new Answers(
      (frame) => this.sendFrame(frame),
      () => this.abort('the server does not read what it asks for'),
      options.mostAnswerBytes,
    );
    this.#announcement = new Announcement(server.features, (frame) => this.sendFrame(frame));
    this.#dials = this.#makeDials();
    this.#host = {
      carrier: this,
      buffers: options.buffers,
      times: options.times,
      onEnd: (endpoint, reason) => {
        this.#endpoints.delete(endpoint.connectId);
        this.#unused.delete(endpoint.dialId);
        this.#closed.add(endpoint.connectId);
        options.onTunnelEnd(this, endpoint, reason);
      },
      onTailDropped: (endpoint, bytes, why) => options.onTailDropped(this, endpoint, bytes, why),
      onClosed: (endpoint) => options.onEndpointClosed(this, endpoint),
    };
    stream.attach({
      onPacket: (packet) => this.#onPacket(packet),
      onDrain: () => {
        this.#answers.drained();
        this.link.drained();
        if (this.saidDrain) options.onRoom(this);
      },
      onEnd: (end) => this.#onEnd(end),
    });
  }

  /** Whether the server speaks our extension. */
  get ours(): boolean {
    return this.features.has('status');
  }

  get open(): boolean {
    return this.#end === undefined;
  }

  /** How the stream ended, once it has. */
  get streamEnd(): StreamEnd | undefined {
    return this.#end;
  }

  get tunnels(): number {
    return this.#endpoints.size;
  }

  get pendingDials(): number {
    return this.#dials.size;
  }

  /** No tunnel, no dial, and nothing that a tunnel left to send. */
  get idle(): boolean {
    return this.#endpoints.size === 0 && this.#dials.size === 0 && this.link.empty;
  }

  /** The server was told DRAIN, which cannot be taken back. */
  get saidDrain(): boolean {
    return this.#announcement.saidDrain;
  }

  /** Closed from here. */
  get closing(): boolean {
    return this.#closing;
  }

  send(packet: Packet): boolean {
    return this.link.send(packet);
  }

  sendFrame(frame: Buffer): boolean {
    return this.#stream.sendFrame(frame);
  }

  ask(number: number, answered: (roundTripMs: number) => void): boolean {
    if (!this.features.has('ping')) return this.#stream.ping(answered);
    this.send(ping(number));
    return true;
  }

  isAnswer(packet: Packet, number: number): boolean {
    return packet.type === PacketType.PONG && packet.amount === number;
  }

  /** Tells the agent's state if it changed. */
  announce(state: Status): void {
    this.#announcement.tell(state);
  }

  /** Closes every tunnel and gives up every dial; the stream stays. */
  cutAll(reason: CloseReason): void {
    this.#dials.cancelAll();
    for (const endpoint of [...this.#endpoints.values()]) endpoint.cut(reason);
  }

  /** Ends the stream in order, or by a reset when the server takes longer. Resolves when it has ended. */
  close(withinMs: number): Promise<void> {
    if (!this.open) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.abort('the server did not end the stream'), withinMs);
      this.#onOver.push(() => {
        clearTimeout(timer);
        resolve();
      });
      this.#closing = true;
      this.#stream.end();
    });
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
        this.link.received(packet.data.length);
        if (endpoint !== undefined) {
          if (this.#unused.size > 0) this.#unused.delete(endpoint.dialId);
          endpoint.fromServer(packet.data);
        } else if (!this.#closed.has(packet.connectId)) this.#unknown(packet.connectId);
        return;
      }
      case PacketType.WINDOW:
        if (packet.connectId === 0) this.link.granted(packet.amount);
        else this.#endpoints.get(packet.connectId)?.granted(packet.amount);
        return;
      case PacketType.DIAL_REQ:
        // A stream that is being closed cannot carry the answer: the server learns from its end.
        if (!this.#closing) this.#dials.start(packet.dialId, packet.address, packet.protocol);
        return;
      case PacketType.DIAL_CLS:
        if (!this.#dials.cancel(packet.dialId)) this.#unused.get(packet.dialId)?.closedByFrontend();
        return;
      case PacketType.CLOSE_REQ: {
        const endpoint = this.#endpoints.get(packet.connectId);
        if (endpoint !== undefined) endpoint.closedByFrontend(packet.amount === 1);
        else this.#unknown(packet.connectId);
        return;
      }
      case PacketType.HALF_CLOSE:
        this.#endpoints.get(packet.connectId)?.halfClosedByFrontend();
        return;
      case PacketType.PING:
        if (this.features.has('ping') && packet.amount >= 0) this.#answers.send(pong(packet.amount));
        return;
      case PacketType.STATUS:
        if (packet.status === null || !this.ours) return;
        this.replacements = packet.status.replacements;
        this.#options.onStatus(this, packet.status);
        return;
      case PacketType.ORDER:
        if (packet.order !== null && this.features.has('order')) this.#options.onOrder(this, packet.order);
        return;
      default:
    }
  }

  #makeDials(): StreamDials {
    const { connect, mostPendingDials = MOST_PENDING_DIALS, onDial, onDialEnd } = this.#options;
    return new StreamDials({
      connect,
      mostPending: mostPendingDials,
      onStart: (dialId, address) => onDial(this, dialId, address),
      onConnected: (dialId, address, socket) => this.#establish(dialId, address, socket),
      onFailed: (dialId, address, fault, started) => {
        if (started) onDialEnd(this, dialId, address, undefined, fault);
        this.#answers.send(dialFailure(dialId, fault.message));
      },
      onCancelled: (dialId, address) => {
        onDialEnd(this, dialId, address, undefined);
        // No answer beyond the sign that it ended.
        this.#answers.send(closeDial(dialId));
      },
    });
  }

  #establish(dialId: bigint, address: string, socket: Socket): void {
    const connectId = ++this.#lastConnectId;
    const endpoint = new Endpoint(this.#host, { connectId, dialId, address, socket });
    this.#endpoints.set(connectId, endpoint);
    // A Go server passes a DIAL_CLS on that crossed the answer, and closes nothing. Ours takes care of it itself.
    if (!this.ours) this.#unused.set(dialId, endpoint);
    this.#options.onDialEnd(this, dialId, address, endpoint);
    this.link.sendHurried(encodeFrame(dialResponse(dialId, connectId)));
    endpoint.start();
  }

  #unknown(connectId: number): void {
    if (connectId === NO_CONNECT_ID) return;
    this.#closed.add(connectId);
    this.#answers.send(closeResponse(connectId, 'Unknown connectID'));
  }

  #onEnd(end: StreamEnd): void {
    if (!this.open) return;
    this.#end = end;
    this.#dials.cancelAll();
    for (const endpoint of [...this.#endpoints.values()]) endpoint.serverLost();
    this.link.end();
    this.#release();
    this.#options.onEnd(this, end);
    for (const over of this.#onOver) over();
  }
}
