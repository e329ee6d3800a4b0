import { Duplex } from 'node:stream';
import { Fault, oneLine } from '../ops/fault.ts';
import { encodeDataFrame } from '../wire/encode.ts';
import { type Packet, PacketType } from '../wire/packet.ts';
import type { PacketStream, StreamEnd } from '../wire/packet-stream.ts';
import { closeRequest, dialRequest } from '../wire/packets.ts';

/** As kube-apiserver's client cuts what it sends. */
const MAX_DATA_BYTES = 32 * 1024;
const CANCELLED = 1;

/** What a tunnel over a packet stream is made of. */
export interface PacketTunnelParts {
  readonly stream: PacketStream;
  readonly dialId: bigint;
  readonly address: string;
  /** How long the answer to CLOSE_REQ is waited for. */
  readonly closeTimeoutMs: number;
  /** The same where the way was ever full: the request may wait behind much that a slow destination takes. */
  readonly closeTailMs: number;
  /** Makes the fault of a dial that the server answered with this error. */
  refused(error: string): Fault;
  /** Makes the fault of a call that ended before the dial was answered. */
  ended(end: StreamEnd): Fault;
  /** Closes the connection; called once. */
  release(): void;
}

type State = 'dialling' | 'open' | 'closing' | 'closed';

/**
 * A tunnel over a `Proxy` stream, seen as a Duplex. It cannot be half-closed: end() sends CLOSE_REQ, which ends both
 * directions. An end without CLOSE_RSP, or with one that carries an error, destroys it with a Fault `tunnel-lost`.
 */
export class PacketTunnel extends Duplex {
  readonly #parts: PacketTunnelParts;
  /** Settles with the answer to the dial. Rejects with a Fault. */
  readonly answered: Promise<void>;
  #answer!: { resolve(): void; reject(error: Error): void };
  #state: State = 'dialling';
  #connectId = 0;
  #over = false;
  /** Goes on with the write that waits for the stream. */
  #goOn: (() => void) | undefined;
  #closeTimer: NodeJS.Timeout | undefined;
  /** The stream once took no more. */
  #wasFull = false;

  /** Takes the stream over, in the tick in which it was opened, and sends the dial. */
  constructor(parts: PacketTunnelParts) {
    super({ allowHalfOpen: false });
    this.#parts = parts;
    this.answered = new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
    });
    // Whoever waits for the answer or reads hears of it; without a listener an error would end the process.
    this.answered.catch(() => {});
    this.on('error', () => {});
    parts.stream.attach({
      onPacket: (packet) => this.#onPacket(packet),
      onDrain: () => this.#goOn?.(),
      onEnd: (end) => this.#onEnd(end),
    });
    parts.stream.send(dialRequest(parts.dialId, parts.address));
  }

  override _read(): void {
    this.#parts.stream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const { stream } = this.#parts;
    let at = 0;
    const send = (): void => {
      this.#goOn = undefined;
      while (at < chunk.length && this.#state === 'open') {
        const part = chunk.subarray(at, at + MAX_DATA_BYTES);
        at += part.length;
        if (stream.sendFrame(encodeDataFrame(this.#connectId, part))) continue;
        this.#goOn = send;
        this.#wasFull = true;
        return;
      }
      done();
    };
    send();
  }

  override _final(done: () => void): void {
    if (this.#state === 'open') {
      this.#state = 'closing';
      this.#parts.stream.send(closeRequest(this.#connectId));
      const waitMs = this.#wasFull ? this.#parts.closeTailMs : this.#parts.closeTimeoutMs;
      this.#closeTimer = setTimeout(
        () => this.destroy(this.#lost(`CLOSE_REQ was not answered within ${waitMs / 1000} s`)),
        waitMs,
      );
    }
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#closeTimer);
    if (!this.#over) this.#parts.stream.abort(CANCELLED, 'the client closed the tunnel');
    this.#parts.release();
    this.#answer.reject(error ?? this.#lost('it was closed here'));
    done(error);
  }

  #onPacket(packet: Packet): void {
    switch (packet.type) {
      case PacketType.DIAL_RSP:
        if (this.#state === 'dialling' && packet.dialId === this.#parts.dialId) this.#onAnswer(packet);
        return;
      case PacketType.DATA:
        // Another connectID on this stream is another's; without bytes a DATA packet says nothing.
        if (packet.connectId !== this.#connectId || packet.data.length === 0) return;
        if (this.#state !== 'open' && this.#state !== 'closing') return;
        if (!this.push(packet.data)) this.#parts.stream.pause();
        return;
      case PacketType.CLOSE_RSP:
        if (this.#state === 'dialling' || this.#state === 'closed') return;
        if (packet.error === '') this.#closed();
        else this.destroy(this.#lost(oneLine(packet.error)));
        return;
      default:
    }
  }

  #onAnswer(packet: Packet): void {
    if (packet.error !== '') {
      this.destroy(this.#parts.refused(packet.error));
    } else if (packet.connectId <= 0) {
      this.destroy(this.#parts.refused('the answer names no connection'));
    } else {
      this.#connectId = packet.connectId;
      this.#state = 'open';
      this.#answer.resolve();
    }
  }

  #onEnd(end: StreamEnd): void {
    this.#over = true;
    if (this.#state === 'dialling') this.destroy(this.#parts.ended(end));
    else if (this.#state === 'closing' && end.cause === 'status' && end.code === 0) this.#closed();
    else if (this.#state !== 'closed') {
      this.destroy(
        this.#lost(`the server ended the call without closing the tunnel: ${oneLine(end.details)}`),
      );
    }
  }

  #closed(): void {
    clearTimeout(this.#closeTimer);
    this.#state = 'closed';
    this.push(null);
    this.#goOn?.();
    this.#parts.stream.end();
  }

  #lost(why: string): Fault {
    return new Fault('tunnel-lost', `the tunnel to ${this.#parts.address} was cut (${why})`);
  }
}
