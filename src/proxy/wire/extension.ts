/** Negotiation of our extension (docs/EXTENSIONS.md): metadata keys and the features of this version. */

export const VERSION_KEY = 'kts-version';
export const FEATURES_KEY = 'kts-features';
export const INSTANCE_KEY = 'kts-instance';

export type Feature = 'flow' | 'half-close' | 'order' | 'ping' | 'status';

const OURS: readonly Feature[] = ['flow', 'half-close', 'order', 'ping', 'status'];

/** The value of `kts-features` that this version sends. */
export const featureList: string = OURS.join(',');

/** The features in force with a peer that announced `announced` (undefined: a Go peer, none). */
export function negotiate(announced: string | undefined): ReadonlySet<Feature> {
  const theirs = new Set((announced ?? '').split(',').map((name) => name.trim()));
  const shared = new Set(OURS.filter((feature) => theirs.has(feature)));
  // What an agent does with an order it tells by STATUS.
  if (!shared.has('status')) shared.delete('order');
  return shared;
}

/** A peer's `kts-instance`, or undefined when it sent none or something that is not one. */
export function parseInstance(value: string | undefined): string | undefined {
  return value !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(value) ? value : undefined;
}
