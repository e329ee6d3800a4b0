/** The last thousand times that something took, for their percentiles. */
export class RecentTimes {
  readonly #seconds = new Float64Array(1000);
  #count = 0;

  add(seconds: number): void {
    this.#seconds[this.#count++ % this.#seconds.length] = seconds;
  }

  /** @param part from 0 to 1. @returns seconds; undefined when there is none */
  percentile(part: number): number | undefined {
    if (this.#count === 0) return undefined;
    const known = this.#seconds.slice(0, Math.min(this.#count, this.#seconds.length)).sort();
    return known[Math.min(known.length - 1, Math.ceil(part * known.length) - 1)];
  }
}
