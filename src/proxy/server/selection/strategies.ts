import type { Identifiers } from '../../wire/identifiers.ts';
import { canonicalHost, hostOf } from './canonical-host.ts';
import { Pool } from './pool.ts';
import type { StrategyName } from './strategy-name.ts';

export { STRATEGY_NAMES, type StrategyName } from './strategy-name.ts';

/** Pools that were emptied while out of ready agents, remembered so that a return is told as one. */
const REMEMBERED_POOLS = 10_000;

/**
 * The pools of one strategy. `default` has one pool with every agent; `defaultRoute` one with those that said
 * `default-route=true`; `destHost` one for each host, address or name, that some agent says it serves.
 */
export class StrategyPools {
  readonly name: StrategyName;
  readonly #single: Pool | undefined;
  readonly #byHost = new Map<string, Pool>();
  readonly #lapsed = new Set<string>();

  constructor(name: StrategyName) {
    this.name = name;
    this.#single = name === 'destHost' ? undefined : new Pool(name, '');
  }

  /** The pool that serves every destination; undefined for destHost. */
  get single(): Pool | undefined {
    return this.#single;
  }

  /**
   * How many backends upstream's `ready_backends` counts, draining ones included: agent IDs, and with destHost the
   * hosts that are served.
   */
  get backendCount(): number {
    return this.#single?.size ?? this.#byHost.size;
  }

  /** The pool for a dial's `host:port`; undefined when no agent serves that host. */
  poolFor(address: string): Pool | undefined {
    if (this.#single !== undefined) return this.#single;
    const host = hostOf(address);
    // A host that is a key is canonical; only another one needs to be spelled anew, which costs more than all the
    // rest of a choice.
    return this.#byHost.get(host) ?? this.#byHost.get(canonicalHost(host));
  }

  /** The key under which that pool is, or would be. */
  keyFor(address: string): string {
    return this.#single === undefined ? canonicalHost(hostOf(address)) : '';
  }

  /** The pools, made where missing, that an agent with these identifiers belongs to; each once. */
  poolsOf(identifiers: Identifiers): Pool[] {
    if (this.name === 'default') return [this.#single as Pool];
    if (this.name === 'defaultRoute') return identifiers.defaultRoute ? [this.#single as Pool] : [];
    const hosts = new Set<string>();
    for (const host of identifiers.ipv4) hosts.add(canonicalHost(host));
    for (const host of identifiers.ipv6) hosts.add(canonicalHost(host));
    for (const host of identifiers.host) hosts.add(canonicalHost(host));
    hosts.delete('');
    return [...hosts].map((host) => this.#hostPool(host));
  }

  /** Forgets a host's pool once nobody is in it: hosts come and go without end. */
  drop(pool: Pool): void {
    if (pool.size > 0 || this.#byHost.get(pool.key) !== pool) return;
    this.#byHost.delete(pool.key);
    if (pool.told !== 'out-of-ready') return;
    this.#lapsed.add(pool.key);
    if (this.#lapsed.size > REMEMBERED_POOLS) {
      for (const oldest of this.#lapsed) {
        this.#lapsed.delete(oldest);
        break;
      }
    }
  }

  /** All pools there are now. */
  *pools(): IterableIterator<Pool> {
    if (this.#single !== undefined) yield this.#single;
    yield* this.#byHost.values();
  }

  #hostPool(host: string): Pool {
    let pool = this.#byHost.get(host);
    if (pool === undefined) {
      pool = new Pool(this.name, host);
      if (this.#lapsed.delete(host)) pool.told = 'out-of-ready';
      this.#byHost.set(host, pool);
    }
    return pool;
  }
}
