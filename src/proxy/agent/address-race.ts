import type { Socket } from 'node:net';
import type { Fault } from '../ops/fault.ts';
import { leanConnect } from '../ops/lean-socket.ts';
import { connectFault, mostTelling } from './connect-fault.ts';
import type { ResolvedAddress } from './hosts-file.ts';

export interface RaceOptions {
  port: number;
  /** The next address is tried when the earlier ones have neither connected nor failed for this long. */
  attemptDelayMs: number;
  /** Ends the race with `cancelled()`, or with `signal.reason` without one. */
  signal: AbortSignal;
  cancelled?: () => Fault;
  /** Ends the race after that long; never without. */
  limit?: { readonly afterMs: number; readonly fault: () => Fault };
}

/** Later addresses of one name are not tried. */
const MAX_ATTEMPTS = 32;

/**
 * Connects to the first of the addresses that answers, after RFC 8305: families in turn, the next attempt when the
 * last one failed or was silent for a while, and all other sockets destroyed as soon as one has connected or the
 * signal aborts. Rejects with the most telling Fault when all have failed.
 */
export function raceAddresses(addresses: readonly ResolvedAddress[], options: RaceOptions): Promise<Socket> {
  const { port, attemptDelayMs, signal, cancelled, limit } = options;
  const left = interleaveFamilies(addresses).slice(0, MAX_ATTEMPTS);
  return new Promise<Socket>((resolve, reject) => {
    const pending = new Set<Socket>();
    const faults: Fault[] = [];
    let timer: NodeJS.Timeout | undefined;
    let over = false;
    const limitTimer =
      limit === undefined ? undefined : setTimeout(() => end(() => reject(limit.fault())), limit.afterMs);

    const end = (settle: () => void): void => {
      over = true;
      clearTimeout(timer);
      clearTimeout(limitTimer);
      signal.removeEventListener('abort', onAbort);
      for (const socket of pending) socket.destroy();
      pending.clear();
      settle();
    };
    const onAbort = (): void => end(() => reject(cancelled?.() ?? signal.reason));

    const next = (): void => {
      clearTimeout(timer);
      const target = left.shift();
      if (target !== undefined) attempt(target);
      else if (pending.size === 0) end(() => reject(mostTelling(faults)));
    };

    const attempt = ({ address }: ResolvedAddress): void => {
      const socket = leanConnect(address, port);
      pending.add(socket);
      const onError = (error: NodeJS.ErrnoException): void => {
        if (!pending.delete(socket) || over) return;
        faults.push(connectFault(endpointText(address, port), error));
        next();
      };
      // Stays on the losers: a destroyed socket may still have an error to tell.
      socket.on('error', onError);
      socket.once('connect', () => {
        if (over) return;
        // A connect from an ephemeral port to itself succeeds when nobody listens there.
        if (socket.localPort === port && socket.localAddress === socket.remoteAddress) {
          socket.destroy(Object.assign(new Error('connected to itself'), { code: 'ECONNREFUSED' }));
          return;
        }
        pending.delete(socket);
        // An error that comes before the new owner listens must not end the process.
        socket.on('error', ignore);
        socket.off('error', onError);
        end(() => resolve(socket));
      });
      if (left.length > 0) timer = setTimeout(next, attemptDelayMs);
    };

    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort);
    next();
  });
}

/** IPv6, IPv4, IPv6, ...; the order within a family stays. */
export function interleaveFamilies(addresses: readonly ResolvedAddress[]): ResolvedAddress[] {
  const v6 = addresses.filter((a) => a.family === 6);
  const v4 = addresses.filter((a) => a.family === 4);
  const mixed: ResolvedAddress[] = [];
  for (let i = 0; i < Math.max(v6.length, v4.length); i++) {
    mixed.push(...v6.slice(i, i + 1), ...v4.slice(i, i + 1));
  }
  return mixed;
}

/** `ip:port`, `[v6]:port`. */
export function endpointText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function ignore(): void {}
