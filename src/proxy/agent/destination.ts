import { isIP, type Socket } from 'node:net';
import { Fault, oneLine } from '../ops/fault.ts';
import { endpointText, raceAddresses } from './address-race.ts';
import type { ResolvedAddress } from './hosts-file.ts';
import { parseDestination } from './parse-destination.ts';
import type { Resolver } from './resolver.ts';

export interface DestinationOptions {
  resolver: Pick<Resolver, 'resolve'>;
  /** Ends the attempt; its sockets are destroyed in the same tick. */
  signal: AbortSignal;
  /** For resolving and connecting together. */
  timeoutMs?: number;
  /** How long an address may be silent before the next one is tried beside it. */
  attemptDelayMs?: number;
}

/**
 * Connects to `host:port`. The socket has TCP_NODELAY, is half-open capable and unread; an error before the caller's
 * own 'error' listener only destroys it. Rejects with a Fault whose code is `refused`, `unreachable`, `reset`,
 * `timeout`, `dns-not-found`, `dns-failed`, `dns-timeout`, `bad-address`, `descriptors`, `cancelled` or `failed` and
 * whose message is meant for the user at the other end of the tunnel.
 */
export async function connectDestination(address: string, options: DestinationOptions): Promise<Socket> {
  const { resolver, signal, timeoutMs = 5_000, attemptDelayMs = 250 } = options;
  const { host, port } = parseDestination(address);
  const cancelled = (): Fault => new Fault('cancelled', `dial tcp ${address}: operation was canceled`);
  if (signal.aborted) throw cancelled();

  const family = isIP(host);
  if (family === 4 || family === 6) {
    // Nearly all dials: one address, and no AbortController beside the caller's.
    const only: readonly ResolvedAddress[] = [{ address: host, family }];
    const limit = { afterMs: timeoutMs, fault: () => timeoutFault(host, port, only) };
    const socket = await raceAddresses(only, { port, attemptDelayMs, signal, cancelled, limit });
    if (!signal.aborted) return socket;
    socket.destroy();
    throw cancelled();
  }

  const ending = new AbortController();
  let tried: readonly ResolvedAddress[] = [];
  const onAbort = (): void => ending.abort(cancelled());
  const timer = setTimeout(() => ending.abort(timeoutFault(host, port, tried)), timeoutMs);
  signal.addEventListener('abort', onAbort);
  try {
    tried = await addressesOf(host, resolver, ending.signal);
    const socket = await raceAddresses(tried, { port, attemptDelayMs, signal: ending.signal });
    if (!signal.aborted) return socket;
    socket.destroy();
    throw cancelled();
  } catch (error) {
    // The reason of the abort, not the resolver's word that it was cancelled.
    const fault = ending.signal.aborted ? ending.signal.reason : error;
    throw explained(fault, host, tried);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function addressesOf(
  host: string,
  resolver: Pick<Resolver, 'resolve'>,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  try {
    const addresses = await resolver.resolve(host, signal);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault(error.code, `dial tcp: ${error.message}`, '', error);
  }
  throw new Fault('dns-not-found', `dial tcp: lookup ${host}: no such host`);
}

function timeoutFault(host: string, port: number, tried: readonly ResolvedAddress[]): Fault {
  const first = tried[0];
  return first === undefined
    ? new Fault('dns-timeout', `dial tcp: lookup ${host}: i/o timeout`)
    : new Fault('timeout', `dial tcp ${endpointText(first.address, port)}: i/o timeout`);
}

/** The words name one address; with a name, say which name and how many it has. */
function explained(error: unknown, host: string, tried: readonly ResolvedAddress[]): Fault {
  const fault =
    error instanceof Fault ? error : new Fault('failed', `dial tcp: ${oneLine(String(error))}`, '', error);
  if (tried.length === 0 || fault.code === 'cancelled') return fault;
  const count = tried.length === 1 ? '' : `, ${tried.length} addresses`;
  return new Fault(fault.code, `${fault.message} (${host}${count})`, '', fault.cause);
}
