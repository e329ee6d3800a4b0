import type { Sample } from './measure.ts';
import type { Row } from './rows.ts';

export type Side = 'ours' | 'peer' | 'ceiling';

export interface Contender {
  readonly side: Side;
  /** The further flags it ran with: what tells two variants of a peer apart. */
  readonly variant: string;
}

export interface RowResult extends Contender {
  readonly samples: readonly Sample[];
}

export interface Failure extends Contender {
  readonly row: string;
  readonly reason: string;
}

/** What all cells of a run gave. */
export class Results {
  readonly failures: Failure[] = [];
  readonly #byRow = new Map<string, (Contender & { samples: Sample[] })[]>();

  add(row: Row, { side, variant }: Contender, sample: Sample): void {
    const results = this.#byRow.get(row.name) ?? [];
    this.#byRow.set(row.name, results);
    let result = results.find((known) => known.side === side && known.variant === variant);
    if (result === undefined) {
      result = { side, variant, samples: [] };
      results.push(result);
    }
    result.samples.push(sample);
  }

  fail(row: Row, contender: Contender, reason: string): void {
    this.failures.push({ row: row.name, ...contender, reason });
  }

  of(row: Row): readonly RowResult[] {
    return this.#byRow.get(row.name) ?? [];
  }
}
