import type { Duplex } from 'node:stream';

/** Plain pipe() both ways; one end's error or close is the other's. */
export function pipeBoth(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}
