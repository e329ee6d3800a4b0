/** A word of a shell command, quoted where it has to be; control characters are written, not sent. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(word)) {
    return `'${word.replaceAll("'", "'\\''")}'`;
  }
  const bytes = [...Buffer.from(word)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x27 || byte === 0x5c
      ? `\\x${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  );
  return `$'${bytes.join('')}'`;
}
