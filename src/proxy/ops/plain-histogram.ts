/** A histogram of numbers whose observations allocate nothing. */
export class PlainHistogram {
  readonly bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  /** @param bounds ascending upper bounds, without infinity */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Float64Array(bounds.length);
  }

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count++;
    for (let i = 0; i < this.bounds.length; i++) {
      if (value > (this.bounds[i] as number)) continue;
      this.#counts[i] = (this.#counts[i] as number) + 1;
      return;
    }
  }

  /** Upper bound and how many were not above it. */
  *cumulative(): Generator<readonly [number, number]> {
    let sum = 0;
    for (const [index, bound] of this.bounds.entries()) {
      sum += this.#counts[index] as number;
      yield [bound, sum];
    }
  }
}
