import { Fault, oneLine } from '../ops/fault.ts';
import { DnsCache } from './dns-cache.ts';
import { openHostsFile, type ResolvedAddress } from './hosts-file.ts';
import { lookUpFirst } from './look-up.ts';
import { NameServers } from './name-servers.ts';
import { QuerySlots } from './query-slots.ts';
import { isDomain, openResolvConf, searchNames } from './resolv-conf.ts';

export interface ResolverOptions {
  /** `ip` or `ip:port` of the name servers; default: those of resolvConf. */
  servers?: readonly string[];
  /** Default: those of resolvConf. */
  searchDomains?: readonly string[];
  ndots?: number;
  hostsFile?: string;
  resolvConf?: string;
  /** For one look-up with all its queries and its wait for a slot. */
  timeoutMs?: number;
  /** Queries under way at once; a name takes two, one for each family. */
  maxInFlight?: number;
  /** Queries that may wait for one of these; one more fails at once. */
  maxWaiting?: number;
  /** While others wait, a query that is unanswered for this long gives up its slot. */
  yieldAfterMs?: number;
  maxCacheEntries?: number;
  /** Caps what an answer says of its own life. */
  maxTtlMs?: number;
  /** For how long it is remembered that a name does not exist, or that one family was silent. */
  negativeTtlMs?: number;
  /** How long the slower family may lag behind the faster one. */
  familyDelayMs?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

export interface Resolver {
  /**
   * The addresses of a name, never empty. Rejects with a Fault `dns-not-found`, `dns-failed`, `dns-timeout` or
   * `cancelled` (the signal, or close).
   */
  resolve(name: string, signal: AbortSignal): Promise<readonly ResolvedAddress[]>;
  /** Ends all look-ups; for good. */
  close(): void;
}

interface Flight {
  readonly answer: Promise<readonly ResolvedAddress[]>;
  readonly stop: AbortController;
  waiters: number;
}

const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
];

/** Resolves names without getaddrinfo, whose few threads one silent name server would keep for all. */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const { timeoutMs = 5_000, maxTtlMs = 30_000, negativeTtlMs = 1_000, familyDelayMs = 50 } = options;
  const now = options.now ?? (() => performance.now());
  const hostsFile = openHostsFile(options.hostsFile ?? '/etc/hosts', now);
  const resolvConf = openResolvConf(options.resolvConf ?? '/etc/resolv.conf', now);
  const cache = new DnsCache(options.maxCacheEntries ?? 1_000, now);
  const slots = new QuerySlots({
    max: options.maxInFlight ?? 256,
    maxWaiting: options.maxWaiting ?? 1_024,
    yieldAfterMs: options.yieldAfterMs ?? 500,
  });
  const flights = new Map<string, Flight>();
  let nameServers: NameServers | undefined;
  let closed = false;

  const currentNameServers = (): NameServers => {
    const servers = options.servers ?? resolvConf.get().servers;
    if (nameServers === undefined || servers.join() !== nameServers.servers.join()) {
      // The queries of the old one run out by themselves.
      nameServers = new NameServers(servers, timeoutMs);
    }
    return nameServers;
  };

  // Servers given by the caller fail here when they are no addresses.
  if (options.servers !== undefined) currentNameServers();

  const look = async (name: string, stop: AbortController): Promise<readonly ResolvedAddress[]> => {
    const asked = currentNameServers();
    const conf = resolvConf.get();
    const names = searchNames(name, options.searchDomains ?? conf.searchDomains, options.ndots ?? conf.ndots);
    const timer = setTimeout(() => stop.abort(new Fault('dns-timeout', 'i/o timeout')), timeoutMs);
    try {
      const found = await lookUpFirst(
        names,
        (candidate, family, signal) => slots.run(() => asked.query(candidate, family, signal), signal),
        familyDelayMs,
        stop.signal,
      );
      const ttlMs = found.addresses.length > 0 && found.complete ? found.ttlSeconds * 1000 : negativeTtlMs;
      cache.set(name, found.addresses, Math.min(ttlMs, maxTtlMs));
      return found.addresses;
    } catch (error) {
      const { code, message } = error instanceof Fault ? error : new Fault('dns-failed', String(error));
      throw new Fault(code, `lookup ${name} on ${asked.servers.join(', ')}: ${message}`, '', error);
    } finally {
      clearTimeout(timer);
    }
  };

  const join = (name: string): Flight => {
    const known = flights.get(name);
    if (known !== undefined) return known;
    const stop = new AbortController();
    const flight: Flight = { answer: look(name, stop), stop, waiters: 0 };
    flights.set(name, flight);
    const landed = (): void => {
      if (flights.get(name) === flight) flights.delete(name);
    };
    flight.answer.then(landed, landed);
    return flight;
  };

  const fromNameServers = (name: string, signal: AbortSignal): Promise<readonly ResolvedAddress[]> =>
    new Promise((resolve, reject) => {
      const flight = join(name);
      flight.waiters++;
      const onAbort = (): void => {
        reject(cancelled(name));
        flight.waiters--;
        if (flight.waiters > 0) return;
        // Nobody wants the answer any more. Whoever comes next asks anew instead of joining a stopped look-up.
        if (flights.get(name) === flight) flights.delete(name);
        flight.stop.abort(stopped());
      };
      signal.addEventListener('abort', onAbort, { once: true });
      flight.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });

  const resolve = async (written: string, signal: AbortSignal): Promise<readonly ResolvedAddress[]> => {
    if (closed || signal.aborted) throw cancelled(written);
    const name = written.toLowerCase();
    const bare = name.replace(/\.$/, '');
    if (!isDomain(bare)) throw noSuchHost(written);
    const listed = hostsFile.get().get(bare);
    if (listed !== undefined) return listed;
    if (bare === 'localhost' || bare.endsWith('.localhost')) return LOOPBACK;
    const addresses = cache.get(name) ?? (await fromNameServers(name, signal));
    if (addresses.length === 0) throw noSuchHost(written, nameServers?.servers);
    return addresses;
  };

  return {
    resolve,
    close: () => {
      closed = true;
      for (const flight of flights.values()) flight.stop.abort(stopped());
      flights.clear();
      cache.clear();
      nameServers?.close();
    },
  };
}

function stopped(): Fault {
  return new Fault('cancelled', 'operation was canceled');
}

function cancelled(name: string): Fault {
  return new Fault('cancelled', `lookup ${oneLine(name)}: operation was canceled`);
}

function noSuchHost(name: string, servers?: readonly string[]): Fault {
  const asked = servers === undefined ? '' : ` on ${servers.join(', ')}`;
  return new Fault('dns-not-found', `lookup ${oneLine(name)}${asked}: no such host`);
}
