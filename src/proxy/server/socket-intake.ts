import type { Socket } from 'node:net';
import type { Buffers } from '../wire/buffers.ts';

/** Bytes of a client that does not wait for the 200: beyond this the socket is no longer read. */
const EARLY_BYTES = 64 * 1024;
/** What one look behind a pause reads: more than a Unix socket's buffer holds, so that the end behind it is seen. */
const PEEK_BYTES = 256 * 1024;
/** The most that is read ahead of a destination that takes nothing. */
const MOST_AHEAD_BYTES = 4 * 1024 * 1024;

/** Time constants of an intake. */
export interface IntakeTimes {
  /** A socket that is paused for that long is read a little, again and again: its client may be gone. */
  readonly peekMs: number;
}

/**
 * What a CONNECT client sends, on its way into the tunnel: kept until there is one, stopped at the socket when the
 * way is full. A paused socket tells nothing of its client's end, so a long pause is interrupted by bounded reads.
 */
export class SocketIntake {
  readonly #socket: Socket;
  readonly #times: IntakeTimes;
  readonly #buffers: Buffers;
  #promisedBytes = 0;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #limitBytes = EARLY_BYTES;
  #sink: ((chunk: Buffer) => void) | undefined;
  #blocked = false;
  #timer: NodeJS.Timeout | undefined;
  #onFlushed: (() => void) | undefined;

  constructor(socket: Socket, times: IntakeTimes, buffers: Buffers) {
    this.#socket = socket;
    this.#times = times;
    this.#buffers = buffers;
  }

  /** Takes what the socket read. */
  take(chunk: Buffer): void {
    if (this.#sink !== undefined && !this.#blocked) {
      this.#sink(chunk);
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes <= this.#limitBytes) return;
    this.#socket.pause();
    // Before there is a tunnel nobody else pauses it, and the client may take its dial back.
    if (this.#onFlushed === undefined) this.#timer ??= setInterval(() => this.#peek(), this.#times.peekMs);
  }

  /** There is a tunnel: what came early goes into it first. The sink may pause(). */
  open(sink: (chunk: Buffer) => void): void {
    this.#sink = sink;
    if (!this.#blocked) this.#clearTimer();
    this.#flush();
  }

  pause(): void {
    if (this.#blocked) return;
    this.#blocked = true;
    this.#socket.pause();
    this.#limitBytes = this.#queuedBytes;
    if (this.#onFlushed === undefined) this.#timer ??= setInterval(() => this.#peek(), this.#times.peekMs);
  }

  resume(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    if (this.#onFlushed === undefined) this.#clearTimer();
    this.#flush();
  }

  /** The client ended: calls back when all that it sent has gone. Whoever finds that too long calls stop(). */
  end(flushed: () => void): void {
    if (this.#queuedBytes === 0) {
      flushed();
      return;
    }
    this.#onFlushed = flushed;
    this.#clearTimer();
  }

  /** Drops what is left; nothing more is called back. */
  stop(): void {
    this.#clearTimer();
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#onFlushed = undefined;
    this.#release();
  }

  #flush(): void {
    let sent = 0;
    while (!this.#blocked && sent < this.#queue.length) {
      const chunk = this.#queue[sent++] as Buffer;
      this.#queuedBytes -= chunk.length;
      this.#sink?.(chunk);
    }
    this.#queue = this.#queue.slice(sent);
    if (this.#blocked) return;
    this.#release();
    if (this.#onFlushed !== undefined) this.#over();
    else this.#socket.resume();
  }

  #peek(): void {
    if (this.#queuedBytes >= this.#limitBytes) {
      if (this.#promisedBytes >= MOST_AHEAD_BYTES || !this.#buffers.promise(PEEK_BYTES)) return;
      this.#promisedBytes += PEEK_BYTES;
      this.#limitBytes += PEEK_BYTES;
    }
    this.#socket.resume();
  }

  #release(): void {
    this.#buffers.release(this.#promisedBytes);
    this.#promisedBytes = 0;
  }

  #over(): void {
    const flushed = this.#onFlushed;
    this.stop();
    flushed?.();
  }

  #clearTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
