/** A value, or what is wrong with its text, as the end of a sentence that begins with the flag. */
export type Parsed<T> = T | { readonly problem: string };

/** Tells a problem from a value. */
export function isProblem(parsed: unknown): parsed is { readonly problem: string } {
  return typeof parsed === 'object' && parsed !== null && 'problem' in parsed;
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** Go's strconv.ParseBool. */
export function parseGoBool(text: string): Parsed<boolean> {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  return { problem: 'is neither true nor false' };
}

const INTEGER =
  /^([+-]?)(?:0[xX]_?([0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)|0[bB]_?([01]+(?:_[01]+)*)|0[oO]?_?([0-7]+(?:_[0-7]+)*)|(0|[1-9]\d*(?:_\d+)*))$/;

/** Go's strconv.ParseInt with base 0, as far as JavaScript counts without loss. */
export function parseGoInt(text: string): Parsed<number> {
  const match = INTEGER.exec(text);
  if (match === null) return { problem: 'is not an integer' };
  const [, sign, hex, binary, octal, decimal] = match as unknown as (string | undefined)[];
  const digits = (hex ?? binary ?? octal ?? decimal ?? '').replaceAll('_', '');
  const base = hex !== undefined ? 16 : binary !== undefined ? 2 : octal !== undefined ? 8 : 10;
  const value = Number.parseInt(digits, base);
  if (!Number.isSafeInteger(value)) return { problem: 'is too large' };
  return sign === '-' && value !== 0 ? -value : value;
}

/** A decimal number (Go's float flags). */
export function parseGoNumber(text: string): Parsed<number> {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return { problem: 'is not a number' };
  const value = Number(text);
  return Number.isFinite(value) ? value : { problem: 'is too large' };
}

/** One line of CSV, which is what one occurrence of a Go StringSlice flag is: `a,b` or `"a,b",c`. */
export function parseGoStrings(text: string): Parsed<string[]> {
  if (text === '') return [];
  const fields: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = field.exec(text);
    if (match === null) return { problem: 'has a quote in the wrong place' };
    fields.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === '') return fields;
  }
}
