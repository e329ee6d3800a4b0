import type { LeaseTerm } from './lease-term.ts';

/** When the renewal that a Lease shows was first seen here. */
export interface Sighting {
  readonly renewedMs: number | undefined;
  /** By our own clock that never goes back. */
  readonly seenAtMs: number;
  /** It was seen to be renewed: the Lease was known with an earlier renewTime. Else it was only found like this. */
  readonly renewedHere: boolean;
}

/**
 * Remembers when Leases were seen to be renewed. With that a Lease whose holder's clock is behind ours is not taken for
 * expired: that it was renewed a moment ago needs no comparison of clocks.
 */
export class LeaseSightings {
  readonly #sightings = new Map<string, Sighting>();

  /** The sighting of the renewal that the Lease of that name now shows. */
  see(name: string, term: LeaseTerm, monoMs: number): Sighting {
    const renewedMs = term.kind === 'term' ? term.renewedMs : undefined;
    const before = this.#sightings.get(name);
    if (before !== undefined && before.renewedMs === renewedMs) return before;
    const renewedHere =
      before?.renewedMs !== undefined && renewedMs !== undefined && renewedMs > before.renewedMs;
    const sighting = { renewedMs, seenAtMs: monoMs, renewedHere };
    this.#sightings.set(name, sighting);
    return sighting;
  }

  /** Forgets all Leases but these. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#sightings.keys()) if (!names.has(name)) this.#sightings.delete(name);
  }

  forget(name: string): void {
    this.#sightings.delete(name);
  }
}

/** The clock of a holder may be this far behind ours before its Lease is taken for expired although it is renewed. */
export const SKEW_MS = 30_000;

/**
 * For how long a Lease is still valid, in milliseconds; 0 or less when it is not. By the clocks of holder and this
 * machine, as upstream has it, unless it was seen to be renewed within its duration and the clocks differ by no more
 * than SKEW_MS.
 */
export function validForMs(term: LeaseTerm, sighting: Sighting, wallMs: number, monoMs: number): number {
  if (term.kind !== 'term') return 0;
  const byClocksMs = term.renewedMs + term.durationMs - wallMs;
  if (!sighting.renewedHere) return byClocksMs;
  const bySightMs = sighting.seenAtMs + term.durationMs - monoMs;
  return Math.max(byClocksMs, Math.min(bySightMs, byClocksMs + SKEW_MS));
}

/**
 * Whether a Lease may be deleted: it is expired, and by more than clocks may differ, or nobody renewed it for its whole
 * duration while we looked. One without a duration is left alone: nothing can be said of it.
 */
export function isCollectable(term: LeaseTerm, sighting: Sighting, wallMs: number, monoMs: number): boolean {
  if (term.kind === 'no-duration') return false;
  if (term.kind === 'no-time') return true;
  const expiredForMs = wallMs - term.renewedMs - term.durationMs;
  if (expiredForMs < 0) return false;
  return expiredForMs >= SKEW_MS || monoMs - sighting.seenAtMs >= term.durationMs;
}
