import { promises as dns } from 'node:dns';
import { Fault } from '../ops/fault.ts';

/** The addresses of one family and for how long they hold; no addresses when the name has none of that family. */
export interface FamilyAnswer {
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
}

const TRIES = 3;
/** Of one family; nobody tries more, and what is kept of a name is bounded. */
const MOST_ADDRESSES = 32;

/**
 * Asks name servers through c-ares, which keeps no thread busy. One channel for all queries, so that c-ares remembers
 * which server does not answer. But since Node 22 a malformed answer to one query fails all that are under way beside
 * it: these are asked again, each on a channel of its own.
 */
export class NameServers {
  readonly servers: readonly string[];
  readonly #timeoutMs: number;
  readonly #shared: dns.Resolver;
  readonly #alone = new Set<dns.Resolver>();

  constructor(servers: readonly string[], timeoutMs: number) {
    this.servers = servers;
    this.#timeoutMs = timeoutMs;
    this.#shared = this.#openChannel();
  }

  /**
   * Rejects with a Fault `dns-failed`, `dns-timeout` or `cancelled`; a name that does not exist is an empty answer. A
   * query cannot be taken back from c-ares: on abort the caller has to stop waiting, then it runs out by itself.
   */
  async query(name: string, family: 4 | 6, signal: AbortSignal): Promise<FamilyAnswer> {
    const startedAtMs = performance.now();
    for (;;) {
      try {
        return await ask(this.#shared, name, family);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== undefined && NO_SUCH_NAME.has(code)) return { addresses: [], ttlSeconds: 0 };
        // A server that answered fast so far is given less time by c-ares than a name may need: ask again.
        const early = performance.now() - startedAtMs < this.#timeoutMs * 0.8;
        if (code === 'EBADRESP' && early && !signal.aborted) return await this.#askAlone(name, family);
        if (!(code === 'ETIMEOUT' && early) || signal.aborted) throw dnsFault(error as NodeJS.ErrnoException);
      }
    }
  }

  async #askAlone(name: string, family: 4 | 6): Promise<FamilyAnswer> {
    const channel = this.#openChannel();
    this.#alone.add(channel);
    try {
      return await ask(channel, name, family);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== undefined && NO_SUCH_NAME.has(code)) return { addresses: [], ttlSeconds: 0 };
      throw dnsFault(error as NodeJS.ErrnoException);
    } finally {
      this.#alone.delete(channel);
    }
  }

  #openChannel(): dns.Resolver {
    // c-ares asks each server in turn and doubles its time-out after each round: together about timeoutMs.
    const units = this.servers.length * (2 ** TRIES - 1);
    const timeout = Math.max(50, Math.floor(this.#timeoutMs / units));
    const channel = new dns.Resolver({ timeout, tries: TRIES });
    channel.setServers(this.servers);
    return channel;
  }

  /** Queries under way are cancelled. */
  close(): void {
    for (const channel of [this.#shared, ...this.#alone]) channel.cancel();
  }
}

async function ask(channel: dns.Resolver, name: string, family: 4 | 6): Promise<FamilyAnswer> {
  const records = await (family === 4
    ? channel.resolve4(name, { ttl: true })
    : channel.resolve6(name, { ttl: true }));
  const first = records.slice(0, MOST_ADDRESSES);
  return {
    addresses: first.map((record) => record.address),
    // Node gives no TTL from the 257th address on: only those of the first ones are looked at.
    ttlSeconds: Math.max(0, Math.min(...first.map((record) => record.ttl))),
  };
}

const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** The border to c-ares. The words are those that Go's resolver prints, because people search for them. */
function dnsFault(error: NodeJS.ErrnoException): Fault {
  switch (error.code) {
    case 'ETIMEOUT':
      return new Fault('dns-timeout', 'i/o timeout', '', error);
    case 'ECANCELLED':
      return new Fault('cancelled', 'operation was canceled', '', error);
    case 'ECONNREFUSED':
      return new Fault('dns-failed', 'connection refused by the name server', '', error);
    default:
      return new Fault(
        'dns-failed',
        `server misbehaving (${(error.code ?? error.message).replace(/^E/, '')})`,
        '',
        error,
      );
  }
}
