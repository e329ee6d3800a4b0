import type { Lease } from './leases.ts';

/** For how long a Lease says that its holder is alive. */
export type LeaseTerm =
  | {
      readonly kind: 'term';
      /** By the clock of the holder, in milliseconds since 1970. */
      readonly renewedMs: number;
      readonly durationMs: number;
    }
  /** It does not say when it was renewed: upstream takes that for expired. */
  | { readonly kind: 'no-time' }
  /** It does not say for how long. */
  | { readonly kind: 'no-duration' };

/** Reads renewTime (else acquireTime) and leaseDurationSeconds. */
export function leaseTerm({ spec }: Lease): LeaseTerm {
  const time: unknown = spec?.renewTime ?? spec?.acquireTime;
  const renewedMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(renewedMs)) return { kind: 'no-time' };
  const seconds = spec?.leaseDurationSeconds;
  if (typeof seconds !== 'number') return { kind: 'no-duration' };
  return { kind: 'term', renewedMs, durationMs: seconds * 1000 };
}

/** What is missing, and what becomes of it, for the log. */
export function incompleteText(kind: Exclude<LeaseTerm['kind'], 'term'>): string {
  return kind === 'no-time'
    ? 'A Lease has neither renewTime nor acquireTime: it counts as expired'
    : 'A Lease has no leaseDurationSeconds: it is not counted, and left alone';
}

/** A time as the API wants it in a Lease (MicroTime): RFC 3339 in UTC with six digits of a second. */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000Z');
}
