import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { resetBelowTls } from '../ops/listen-tls.ts';
import type { PlainHistogram } from '../ops/plain-histogram.ts';
import { resetSocket } from '../ops/reset-socket.ts';
import type { Buffers } from '../wire/buffers.ts';
import { type CloseReason, isAbnormal } from '../wire/close-reason.ts';
import { encodeFrame } from '../wire/encode.ts';
import type { Packet } from '../wire/packet.ts';
import { dialRequest } from '../wire/packets.ts';
import { WriteQueue } from '../wire/write-queue.ts';
import { established, refusal } from './connect-answer.ts';
import { parseConnectHead } from './connect-head.ts';
import type { DialFailure } from './dial-failure.ts';
import type { Frontend, FrontendDial, FrontendTunnel } from './frontend.ts';
import { Hold } from './hold.ts';
import type { ServerTimes } from './server-options.ts';
import { type IntakeTimes, SocketIntake } from './socket-intake.ts';
import type { TailDrop, Tails } from './tails.ts';
import { WriteClock } from './write-clock.ts';

/** What the CONNECT sockets of a listener need from the server. */
export interface ConnectFrontendOptions {
  readonly tails: Tails;
  /** Makes and starts a dial. */
  dial(frontend: Frontend, id: bigint, address: string, request: Buffer): FrontendDial;
  /** A socket asks for something. */
  onBusy(socket: Socket): void;
  /** A dial ID: positive int64, random. */
  newDialId(): bigint;
  /** How long everything is held after the 200. */
  readonly holdMs: number;
  readonly headTimeoutMs: number;
  /** lingerMs is also how long a socket may take to accept a refusal, or to end its own side after the end. */
  readonly times: IntakeTimes & Pick<ServerTimes, 'tailMs' | 'lingerMs'>;
  readonly buffers: Buffers;
  /** A request was refused before its dial: status and reason. */
  onRefused(client: string, status: number, reason: string): void;
  /** All is delivered; only the client's own end is waited for. */
  onIdle(socket: Socket): void;
  /** The socket is closed. */
  onEnd(socket: Socket): void;
  readonly writeSeconds: PlainHistogram;
}

const NOTHING = Buffer.alloc(0);

type State =
  | { readonly name: 'head'; readonly timer: NodeJS.Timeout; readonly bytes: Buffer }
  | { readonly name: 'dialling'; dial: FrontendDial | undefined }
  | { readonly name: 'established'; readonly tunnel: FrontendTunnel; readonly hold: Hold }
  | { readonly name: 'ended' };

/** An HTTP CONNECT client on an accepted socket (TCP, TLS or Unix; allowHalfOpen). */
export class ConnectFrontend implements Frontend {
  readonly kind = 'http-connect';
  readonly client: string;
  readonly #socket: Socket;
  readonly #queue: WriteQueue;
  readonly #options: ConnectFrontendOptions;
  readonly #intake: SocketIntake;
  readonly #writes: WriteClock;
  #state: State;
  /** Also when it has ended: what waits for the client still counts as its own. */
  #tunnel: FrontendTunnel | undefined;
  /** Behind the end: of what waits for the client, then of the client's own end. */
  #limit: NodeJS.Timeout | undefined;
  #awaitsEnd = false;
  /** Counts the tail out, once one is being delivered. */
  #delivered: (() => void) | undefined;

  /** @param client its address, for people */
  constructor(socket: Socket, client: string, options: ConnectFrontendOptions) {
    this.#socket = socket;
    this.#queue = new WriteQueue(socket);
    this.#options = options;
    this.client = client;
    this.#writes = new WriteClock(options.writeSeconds);
    this.#intake = new SocketIntake(socket, options.times, options.buffers);
    const timer = setTimeout(
      () => this.#refuse(408, `the request head was not complete within ${options.headTimeoutMs / 1000} s`),
      options.headTimeoutMs,
    );
    this.#state = { name: 'head', timer, bytes: NOTHING };
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('drain', () => {
      this.#queue.drained();
      if (!socket.writableNeedDrain) this.#writes.drained();
      this.#tunnel?.frontendDrained();
    });
    socket.on('end', () => this.#onEof());
    socket.on('error', destroy);
    socket.on('close', () => {
      clearInterval(this.#limit);
      this.#delivered?.();
      this.#leave('frontend-lost');
      this.#queue.clear();
      this.#tunnel?.frontendClosed();
      options.onEnd(socket);
    });
  }

  get open(): boolean {
    return this.#socket.writable;
  }

  get bufferedBytes(): number {
    const held = this.#state.name === 'established' ? this.#state.hold.bytes : 0;
    return held + this.#queue.bufferedBytes;
  }

  dialed(tunnel: FrontendTunnel, _response: Packet): void {
    const state = this.#state;
    if (state.name !== 'dialling') return;
    this.#queue.write(established);
    this.#tunnel = tunnel;
    const hold = new Hold(this.#options.holdMs, tunnel);
    this.#state = { name: 'established', tunnel, hold };
    this.#intake.open((chunk) => tunnel.fromFrontend(chunk));
  }

  dialFailed(_dialId: bigint, failure: DialFailure): void {
    if (this.#state.name !== 'dialling') return;
    this.#state = { name: 'ended' };
    this.#finish(refusal(failure.httpStatus, failure.text));
  }

  data(packet: Packet): void {
    if (this.#state.name !== 'established') return;
    const { hold } = this.#state;
    const { data } = packet;
    if (hold.holding) hold.add(data.length, () => this.#write(data));
    else this.#write(data);
  }

  #write(data: Buffer): void {
    this.#writes.wrote(this.#queue.write(data));
  }

  closed(reason: CloseReason, _error: string): void {
    if (this.#state.name !== 'established') return;
    const { hold } = this.#state;
    const abnormal = isAbnormal(reason);
    this.#owe();
    const finish = (): void => {
      this.#state = { name: 'ended' };
      this.#intake.stop();
      if (abnormal) this.#cut();
      else this.#finish();
    };
    if (hold.holding) hold.add(0, finish);
    else finish();
  }

  dropTail(): void {
    this.#state = { name: 'ended' };
    this.#intake.stop();
    this.#cutTail('budget');
  }

  pause(): void {
    this.#intake.pause();
  }

  resume(): void {
    this.#intake.resume();
  }

  #onData(chunk: Buffer): void {
    const state = this.#state;
    switch (state.name) {
      case 'established':
        state.hold.release();
        this.#intake.take(chunk);
        return;
      case 'head':
        this.#onHead(state.bytes.length === 0 ? chunk : Buffer.concat([state.bytes, chunk]), state.timer);
        return;
      case 'dialling':
        this.#intake.take(chunk);
        return;
      case 'ended':
        return;
      default:
        state satisfies never;
    }
  }

  #onHead(bytes: Buffer, timer: NodeJS.Timeout): void {
    const head = parseConnectHead(bytes);
    if (head.kind === 'incomplete') {
      this.#state = { name: 'head', timer, bytes };
      return;
    }
    if (head.kind === 'refused') {
      this.#refuse(head.status, head.reason);
      return;
    }
    clearTimeout(timer);
    const id = this.#options.newDialId();
    const state: State = { name: 'dialling', dial: undefined };
    if (head.rest.length > 0) this.#intake.take(head.rest);
    this.#state = state;
    this.#options.onBusy(this.#socket);
    const dial = this.#options.dial(this, id, head.target, encodeFrame(dialRequest(id, head.target)));
    state.dial = dial;
  }

  /** Before the 200 an EOF is a hang-up; after it the client is done. */
  #onEof(): void {
    const state = this.#state;
    if (state.name === 'established') {
      // What the destination said first is still owed to a client that only ended its own side.
      state.hold.release();
      state.tunnel.frontendEnding();
      this.#intake.end(() => {
        if ((this.#state as State).name !== 'established' || state.tunnel.frontendHalfClosed()) return;
        this.#owe();
        this.#leave('frontend-closed');
        this.#finish();
      });
    } else if (state.name !== 'ended') {
      this.#leave('frontend-lost');
      this.#socket.destroy();
    } else if (this.#awaitsEnd) this.#socket.destroy();
  }

  /** A server that stops waits until the kernel has the rest. */
  #owe(): void {
    this.#delivered = this.#options.tails.begin();
  }

  #refuse(status: number, reason: string): void {
    this.#leave('frontend-lost');
    this.#options.onRefused(this.client, status, reason);
    this.#finish(refusal(status, reason));
  }

  /** Sends the rest and the end. A client that takes nothing of a tail for tailMs, or of a refusal for lingerMs, is cut. */
  #finish(last?: Buffer): void {
    const socket = this.#socket;
    const { lingerMs, tailMs } = this.#options.times;
    socket.resume();
    let left = this.#queue.bufferedBytes;
    this.#limit = setInterval(
      () => {
        const now = this.#queue.bufferedBytes;
        if (now > 0 && now < left) left = now;
        else this.#cutTail('taken-nothing');
      },
      left > 0 ? tailMs : lingerMs,
    );
    if (last !== undefined) this.#queue.write(last);
    this.#queue.end(() => this.#finished());
  }

  /** The kernel has everything, or the socket broke. */
  #finished(): void {
    const socket = this.#socket;
    clearInterval(this.#limit);
    if (socket.destroyed) return;
    this.#delivered?.();
    this.#tunnel?.frontendDrained();
    this.#options.onIdle(socket);
    // What the client still sends has nowhere to go; its own end, or the linger, closes the socket.
    if (socket.readableEnded) {
      socket.destroy();
      return;
    }
    this.#awaitsEnd = true;
    this.#limit = setTimeout(() => socket.destroy(), this.#options.times.lingerMs);
  }

  #cutTail(why: TailDrop): void {
    const bytes = this.#queue.bufferedBytes;
    this.#cut();
    if (bytes > 0 && this.#tunnel !== undefined)
      this.#options.tails.dropped(this.client, this.#tunnel, bytes, why);
  }

  /**
   * An end that must not look like an orderly one: RST, below TLS too, since many TLS clients (Node's among them) take
   * an end without close_notify for an orderly one. Plain EOF on Unix sockets, which cannot be reset.
   */
  #cut(): void {
    const socket = this.#socket as Socket & { encrypted?: boolean };
    this.#queue.clear();
    if (socket.remoteAddress === undefined) socket.destroy();
    else if (socket.encrypted === true) resetBelowTls(socket as TLSSocket);
    else resetSocket(socket);
  }

  #leave(reason: CloseReason): void {
    const state = this.#state;
    this.#state = { name: 'ended' };
    this.#intake.stop();
    switch (state.name) {
      case 'head':
        clearTimeout(state.timer);
        return;
      case 'dialling':
        state.dial?.cancel();
        return;
      case 'established':
        state.hold.drop();
        state.tunnel.frontendEnded(reason);
        return;
      case 'ended':
        return;
      default:
        state satisfies never;
    }
  }
}

function destroy(this: Socket): void {
  this.destroy();
}
