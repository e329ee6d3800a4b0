import { promises as dns } from 'node:dns';
import { Fault } from '../ops/fault.ts';

/** The addresses of one family and for how long they hold; no addresses when the name has none of that family. */
export interface FamilyAnswer {
  readonly addresses: readonly string[];
  readonly ttlSeconds: number;
}

const TRIES = 3;

/**
 * Asks name servers through c-ares, which keeps no thread busy. One channel for all queries, so that c-ares remembers
 * which server does not answer.
 */
export class NameServers {
  readonly servers: readonly string[];
  readonly #resolver: dns.Resolver;

  /** The tries of a query together take about `timeoutMs`; the caller ends what takes longer. */
  constructor(servers: readonly string[], timeoutMs: number) {
    this.servers = servers;
    // c-ares asks each server in turn and doubles its time-out after each round.
    const units = servers.length * (2 ** TRIES - 1);
    this.#resolver = new dns.Resolver({ timeout: Math.max(50, Math.floor(timeoutMs / units)), tries: TRIES });
    this.#resolver.setServers(servers);
  }

  /** Rejects with a Fault `dns-failed` or `dns-timeout`; a name that does not exist is an empty answer. */
  async query(name: string, family: 4 | 6): Promise<FamilyAnswer> {
    try {
      const records = await (family === 4
        ? this.#resolver.resolve4(name, { ttl: true })
        : this.#resolver.resolve6(name, { ttl: true }));
      return {
        addresses: records.map((record) => record.address),
        ttlSeconds: Math.max(0, Math.min(...records.map((record) => record.ttl))),
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== undefined && NO_SUCH_NAME.has(code)) return { addresses: [], ttlSeconds: 0 };
      throw dnsFault(error as NodeJS.ErrnoException);
    }
  }

  /** Queries under way are cancelled. */
  close(): void {
    this.#resolver.cancel();
  }
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
