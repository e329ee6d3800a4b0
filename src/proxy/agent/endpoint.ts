import type { Socket } from 'node:net';
import { resetSocket } from '../ops/reset-socket.ts';
import type { Buffers } from '../wire/buffers.ts';
import type { CloseReason } from '../wire/close-reason.ts';
import type { Feature } from '../wire/extension.ts';
import { Inflow, type InflowOwner } from '../wire/flow.ts';
import type { Link } from '../wire/link.ts';
import { closeResponse, window } from '../wire/packets.ts';
import { TunnelSender, type TunnelSource } from '../wire/tunnel-sender.ts';
import { WriteQueue } from '../wire/write-queue.ts';
import type { AgentTimes } from './agent-options.ts';

/** The stream to the server, as an endpoint sees it. */
export interface EndpointCarrier {
  readonly features: ReadonlySet<Feature>;
  readonly link: Link;
}

/** Time constants of an endpoint, as in AgentTimes. */
export type EndpointTimes = Pick<AgentTimes, 'tailMs' | 'lingerMs'>;

/** Why the rest was dropped: it took nothing for long, others needed the room, or the agent ended. */
export type TailDrop = 'taken-nothing' | 'budget' | 'agent-ended';

/** One tunnel's own share of what an endpoint is made of. */
export interface EndpointParts {
  readonly connectId: number;
  readonly dialId: bigint;
  readonly address: string;
  /** Connected, allowHalfOpen, nothing read yet. */
  readonly socket: Socket;
}

/** What all endpoints of a stream share. */
export interface EndpointHost {
  readonly carrier: EndpointCarrier;
  readonly buffers: Buffers;
  readonly times: EndpointTimes;
  /** The tunnel is over: told once, before the server is. */
  readonly onEnd: (endpoint: Endpoint, reason: CloseReason) => void;
  /** So many of the bytes that were left behind the end of the tunnel never reached the destination, which sees a reset. */
  readonly onTailDropped: (endpoint: Endpoint, bytes: number, why: TailDrop) => void;
  /** The socket is closed, which can be later; told once. */
  readonly onClosed: (endpoint: Endpoint) => void;
}

/** The agent's TCP connection of one tunnel. */
export class Endpoint implements InflowOwner, TunnelSource {
  readonly connectId: number;
  readonly dialId: bigint;
  readonly address: string;
  bytesFromServer = 0;
  readonly #host: EndpointHost;
  readonly #socket: Socket;
  readonly #queue: WriteQueue;
  readonly #inflow: Inflow;
  readonly #toServer: TunnelSender;
  #closeReason: CloseReason | undefined;
  #closed = false;
  #resetAtEnd = false;
  #halfClosed = false;
  /** Behind the end: of what waits for the destination, then of its own end. */
  #limit: NodeJS.Timeout | undefined;
  #awaitsEnd = false;

  constructor(host: EndpointHost, parts: EndpointParts) {
    const { connectId, socket } = parts;
    const { link, features } = host.carrier;
    this.connectId = connectId;
    this.dialId = parts.dialId;
    this.address = parts.address;
    this.#host = host;
    this.#socket = socket;
    this.#queue = new WriteQueue(socket);
    const flow = features.has('flow');
    this.#toServer = new TunnelSender(link, connectId, flow, this);
    this.#inflow = new Inflow(this, host.buffers, flow);
  }

  /** Starts the flow of bytes; call behind the DIAL_RSP, so that nothing overtakes it. */
  start(): void {
    const socket = this.#socket;
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('drain', () => {
      this.#queue.drained();
      if (this.#resetAtEnd && this.#queue.bufferedBytes === 0) this.#reset();
      this.#inflow.progressed(this.#queue.bufferedBytes);
    });
    socket.on('end', () => this.#onEof());
    socket.on('error', (error: NodeJS.ErrnoException) => this.#lost(error.code ?? error.message));
    socket.on('close', () => this.#onClose());
    // An error between the connect and now was seen by nobody.
    if (socket.destroyed) this.#onClose();
  }

  get bytesToServer(): number {
    return this.#toServer.bytes;
  }

  get bufferedBytes(): number {
    return this.#queue.bufferedBytes;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (this.#closeReason === undefined) this.#socket.resume();
  }

  sendGrant(bytes: number): void {
    this.#host.carrier.link.send(window(this.connectId, bytes));
  }

  onSlowConsumer(): void {
    this.cut('slow-consumer');
  }

  onSlowTail(): void {
    this.#dropTail('budget');
  }

  onOverrun(): void {
    this.cut('protocol-error');
  }

  get closeReason(): CloseReason | undefined {
    return this.#closeReason;
  }

  /** DATA from the server. */
  fromServer(data: Buffer): void {
    if (this.#closeReason !== undefined || data.length === 0) return;
    this.bytesFromServer += data.length;
    this.#queue.write(data);
    this.#inflow.received(data.length, this.#queue.bufferedBytes);
  }

  /** WINDOW from the server: a grant, or (0) the word that it used all it had. */
  granted(bytes: number): void {
    if (bytes === 0) {
      this.#inflow.senderBlocked(this.#socket.writableLength);
      return;
    }
    this.#toServer.granted(bytes);
  }

  /** CLOSE_REQ: everything that came before it is still written, then the end; what comes back is dropped. */
  closedByFrontend(abnormal = false): void {
    if (!this.#end(abnormal ? 'frontend-lost' : 'frontend-closed')) return;
    // Nobody reads any more what still waits for the link.
    this.#toServer.cut(closeResponse(this.connectId));
    // What the client sent before it broke off is still written; but the destination must not take that for all. Behind
    // a half-close it is all, and a reset would throw away what the kernel still holds of it for a slow reader.
    this.#resetAtEnd = abnormal && !this.#halfClosed;
    if (this.#resetAtEnd && this.#queue.bufferedBytes === 0) this.#reset();
    else this.#finish(abnormal ? 0 : this.#host.times.lingerMs);
  }

  /** HALF_CLOSE: the client sent all it had, and waits for what the destination still says. */
  halfClosedByFrontend(): void {
    if (this.#closeReason !== undefined) return;
    // The server takes the tunnel for silent otherwise, while the destination still takes the last bytes.
    this.#inflow.grantSoon();
    this.#halfClosed = true;
    this.#queue.end(() => this.#inflow.progressed(0));
  }

  /** The stream to the server is gone: the destination must not take this for an orderly end. */
  serverLost(): void {
    if (this.#end('server-lost')) this.#reset();
  }

  /** Ended by the agent: both sides are told, the destination by a reset. */
  cut(reason: CloseReason): void {
    if (!this.#end(reason)) return;
    this.#toServer.cut(closeResponse(this.connectId, reason));
    this.#reset();
  }

  /**
   * Resolves when the kernel has everything that was written to the destination, the socket is closed, or it took
   * nothing for `stallMs`.
   */
  whenWritten(stallMs: number): Promise<void> {
    const socket = this.#socket;
    if (this.#closed || socket.writableFinished) return Promise.resolve();
    return new Promise((resolve) => {
      const stall = this.#watch(stallMs, () => done());
      const done = (): void => {
        clearInterval(stall);
        resolve();
      };
      socket.once('finish', done).once('close', done);
    });
  }

  /** Closes the socket of a tunnel that has ended, whatever is left in it. Resolves when it is closed. */
  discard(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
      // A reset would throw away what the kernel has not sent yet.
      if (this.#socket.writableFinished) this.#socket.destroy();
      else this.#dropTail('agent-ended');
    });
  }

  #onData(chunk: Buffer): void {
    if (this.#closeReason === undefined) this.#toServer.data(chunk);
  }

  /** The destination sent everything it had: all of that went before, so now the end. */
  #onEof(): void {
    if (!this.#end('endpoint-closed')) {
      if (this.#awaitsEnd) this.#socket.destroy();
      return;
    }
    this.#toServer.finish(closeResponse(this.connectId));
    this.#finish(this.#host.times.lingerMs);
  }

  #lost(why: string): void {
    if (!this.#end('endpoint-lost')) return;
    this.#toServer.finish(closeResponse(this.connectId, `${this.address}: ${why}`));
  }

  #onClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#limit);
    this.#lost(codeOf(this.#socket.errored));
    this.#queue.clear();
    this.#inflow.dropped();
    this.#host.onClosed(this);
  }

  #reset(): void {
    this.#queue.clear();
    this.#inflow.dropped();
    resetSocket(this.#socket);
  }

  /** Gives up what waits. */
  #dropTail(why: TailDrop): void {
    const bytes = this.#queue.bufferedBytes;
    this.#reset();
    if (bytes > 0) this.#host.onTailDropped(this, bytes, why);
  }

  /** @param ownEndMs how long the destination may leave its own side open after the end */
  #finish(ownEndMs: number): void {
    const socket = this.#socket;
    const { tailMs, lingerMs } = this.#host.times;
    socket.resume();
    if (socket.destroyed) return;
    // The client half-closed, and all of that is through: another end would be an error.
    if (socket.writableFinished) {
      this.#written(ownEndMs);
      return;
    }
    this.#limit = this.#watch(this.#resetAtEnd ? lingerMs : tailMs, () => this.#dropTail('taken-nothing'));
    if (!this.#resetAtEnd) this.#queue.end(() => this.#written(ownEndMs));
  }

  /** The kernel has everything, or the socket broke. */
  #written(ownEndMs: number): void {
    const socket = this.#socket;
    clearInterval(this.#limit);
    this.#inflow.progressed(0);
    if (socket.readableEnded || ownEndMs === 0) socket.destroy();
    if (socket.destroyed) return;
    // What the destination still says has nowhere to go.
    this.#awaitsEnd = true;
    this.#limit = setTimeout(() => socket.destroy(), ownEndMs);
  }

  /** Calls back when the destination took nothing of what waits for `stallMs`. */
  #watch(stallMs: number, onStalled: () => void): NodeJS.Timeout {
    let left = this.#queue.bufferedBytes;
    return setInterval(() => {
      const now = this.#queue.bufferedBytes;
      if (now < left) left = now;
      else onStalled();
    }, stallMs);
  }

  #end(reason: CloseReason): boolean {
    if (this.#closeReason !== undefined) return false;
    this.#closeReason = reason;
    this.#inflow.end(this.#queue.bufferedBytes);
    this.#host.onEnd(this, reason);
    return true;
  }
}

function codeOf(error: Error | null): string {
  return (error as NodeJS.ErrnoException | null)?.code ?? error?.message ?? 'closed';
}
