import type { Socket } from 'node:net';
import type { Descriptors } from './descriptors.ts';
import type { Log } from './log.ts';
import { RepeatedLine } from './repeated-line.ts';

/** More than any fleet connects at once. */
const MOST = 10_000;

/**
 * Accepted connections of one listener that ask for nothing: not yet, or not any more. A flood of them must not take
 * the descriptors of those that do. So while descriptors get few only a handful of them are kept; the oldest of the
 * host that has the most of them goes first.
 */
export class Newcomers {
  readonly #descriptors: Descriptors;
  readonly #repeated: RepeatedLine;
  readonly #what: string;
  readonly #most: number;
  /** Oldest first, by the address of their host; '' for Unix sockets. */
  readonly #hosts = new Map<string, Set<Socket>>();
  readonly #hostOf = new Map<Socket, string>();
  readonly #givenUp = new WeakSet<Socket>();

  /**
   * @param what the listener, for people
   * @param most kept while there are descriptors enough
   */
  constructor(descriptors: Descriptors, log: Log, what: string, most = MOST) {
    this.#descriptors = descriptors;
    this.#repeated = new RepeatedLine(log);
    this.#what = what;
    this.#most = most;
  }

  get size(): number {
    return this.#hostOf.size;
  }

  /** Counts an accepted connection in, until it asks for something or is closed. Call before it is used. */
  accepted(socket: Socket): void {
    socket.on('close', () => {
      this.#descriptors.closed();
      this.busy(socket);
    });
    this.idle(socket);
    const crowded = this.#descriptors.accepted();
    const keep = crowded ? this.#descriptors.newcomersWhenCrowded : this.#most;
    if (this.size <= keep) return;
    this.#repeated.warn(this.#what, 'Too many connections that ask for nothing: the oldest are closed', {
      listener: this.#what,
      open: this.size,
      ...(crowded ? { limitOfDescriptors: this.#descriptors.limit } : {}),
    });
    while (this.size > keep) {
      const oldest = this.#oldest();
      if (oldest === undefined) return;
      this.#givenUp.add(oldest);
      oldest.destroy();
    }
  }

  /** Whether it was closed here, to make room: that was said, and is no failure of its peer. */
  gaveUp(socket: Socket): boolean {
    return this.#givenUp.has(socket);
  }

  /** It asks for something. */
  busy(socket: Socket): void {
    const host = this.#hostOf.get(socket);
    if (host === undefined) return;
    this.#hostOf.delete(socket);
    const ofHost = this.#hosts.get(host);
    ofHost?.delete(socket);
    if (ofHost?.size === 0) this.#hosts.delete(host);
  }

  /** Nothing that it asked for is left. Once it is closed, call no more. */
  idle(socket: Socket): void {
    if (socket.destroyed || this.#hostOf.has(socket)) return;
    const host = socket.remoteAddress ?? '';
    this.#hostOf.set(socket, host);
    const ofHost = this.#hosts.get(host);
    if (ofHost === undefined) this.#hosts.set(host, new Set([socket]));
    else ofHost.add(socket);
  }

  /** Its handshake is done: the same connection is another socket from here on. */
  replaced(before: Socket, after: Socket): void {
    if (!this.#hostOf.has(before)) return;
    this.busy(before);
    this.idle(after);
    after.on('close', () => this.busy(after));
  }

  /** Taken out, so that each is given once. */
  #oldest(): Socket | undefined {
    let most: Set<Socket> | undefined;
    for (const ofHost of this.#hosts.values()) if (ofHost.size > (most?.size ?? 0)) most = ofHost;
    const [oldest] = most ?? [];
    if (oldest !== undefined) this.busy(oldest);
    return oldest;
  }
}
