import type { ResolvedAddress } from './hosts-file.ts';

/** Answers of name servers by name, each until its time; the one least recently used leaves a full cache. */
export class DnsCache {
  readonly #maxEntries: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, { addresses: readonly ResolvedAddress[]; untilMs: number }>();

  /** `now` in milliseconds, from a clock that never goes back. */
  constructor(maxEntries: number, now: () => number) {
    this.#maxEntries = maxEntries;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** No addresses = the name is known not to exist; undefined = not known. */
  get(name: string): readonly ResolvedAddress[] | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    if (entry.untilMs <= this.#now()) return undefined;
    this.#entries.set(name, entry);
    return entry.addresses;
  }

  set(name: string, addresses: readonly ResolvedAddress[], ttlMs: number): void {
    this.#entries.delete(name);
    if (ttlMs <= 0 || this.#maxEntries <= 0) return;
    if (this.#entries.size >= this.#maxEntries) {
      this.#entries.delete(this.#entries.keys().next().value!);
    }
    this.#entries.set(name, { addresses, untilMs: this.#now() + ttlMs });
  }

  clear(): void {
    this.#entries.clear();
  }
}
