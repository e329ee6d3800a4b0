const DIGITS = 'abcdefghijklmnopqrstuvwxyz234567';

/** The number of a tunnel as people type it: base32, without digits that look like letters. */
export function tunnelId(number: number): string {
  let id = '';
  for (let rest = number; rest > 0; rest = Math.floor(rest / 32)) id = DIGITS.charAt(rest % 32) + id;
  return id;
}

/** @returns undefined for what is no ID */
export function tunnelNumber(id: string): number | undefined {
  if (id.length === 0 || id.length > 10) return undefined;
  let number = 0;
  for (const digit of id.toLowerCase()) {
    const value = DIGITS.indexOf(digit);
    if (value < 0) return undefined;
    number = number * 32 + value;
  }
  return number === 0 ? undefined : number;
}
