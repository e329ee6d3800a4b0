import type { Sample } from './measure.ts';

/**
 * `chain` and `naive` are baselines (baselines/), `off` is ours without flow control, `ceiling` load generator and
 * destination without anything between them.
 */
export type Side = 'ours' | 'peer' | 'chain' | 'naive' | 'off' | 'ceiling';

export interface Contender {
  readonly side: Side;
  /** The further flags it ran with: what tells two variants of a peer apart. */
  readonly variant: string;
}

export interface RowResult<Measured = Sample> extends Contender {
  readonly samples: readonly Measured[];
}

interface NamedRow {
  readonly name: string;
}

export interface Failure extends Contender {
  readonly row: string;
  readonly reason: string;
}

/** What all cells of a run gave. */
export class Results<Measured = Sample> {
  readonly failures: Failure[] = [];
  readonly #byRow = new Map<string, (Contender & { samples: Measured[] })[]>();

  add(row: NamedRow, { side, variant }: Contender, sample: Measured): void {
    const results = this.#byRow.get(row.name) ?? [];
    this.#byRow.set(row.name, results);
    let result = results.find((known) => known.side === side && known.variant === variant);
    if (result === undefined) {
      result = { side, variant, samples: [] };
      results.push(result);
    }
    result.samples.push(sample);
  }

  fail(row: NamedRow, contender: Contender, reason: string): void {
    this.failures.push({ row: row.name, ...contender, reason });
  }

  of(row: NamedRow): readonly RowResult<Measured>[] {
    return this.#byRow.get(row.name) ?? [];
  }
}
