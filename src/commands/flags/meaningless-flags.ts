import type { FlagTable } from './flag-definition.ts';

/** The flags that were given and have no meaning here, one line each: to be logged once, at V(1). */
export function meaninglessFlags(table: FlagTable, given: ReadonlySet<string>): string[] {
  const lines: string[] = [];
  for (const name of given) {
    const definition = table[name];
    if (definition?.status === 'accepted') lines.push(`--${name} has no meaning here: ${definition.why}`);
  }
  return lines;
}
