/**
 * Code lengths of HPACK's Huffman code (RFC 7541, appendix B) for the bytes that have at most 15 bits: all printable
 * ASCII but the backslash. The code is canonical, so the lengths are enough to decode it.
 */
const LENGTHS: readonly (readonly [bits: number, bytes: string])[] = [
  [5, '012aceiost'],
  [6, ' %-./3456789=A_bdfghlmnpru'],
  [7, ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'],
  [8, '&*,;XZ'],
  [10, '!"()?'],
  [11, "'+|"],
  [12, '#>'],
  [13, '\u0000$@[]~'],
  [14, '^}'],
  [15, '<`{'],
];

const LONGEST_BITS = 15;

/** By length in bits: the first code of that length, and the bytes that have one, in the order of their codes. */
const BY_LENGTH = tables();

function tables(): ReadonlyMap<number, { readonly first: number; readonly bytes: string }> {
  const map = new Map<number, { first: number; bytes: string }>();
  let next = 0;
  let bitsBefore = 0;
  for (const [bits, bytes] of LENGTHS) {
    next <<= bits - bitsBefore;
    map.set(bits, { first: next, bytes });
    next += bytes.length;
    bitsBefore = bits;
  }
  return map;
}

/** Decodes a Huffman-coded string; undefined when it holds a byte outside the table above. */
export function decodeHuffman(coded: Uint8Array): string | undefined {
  let text = '';
  let code = 0;
  let bits = 0;
  for (const byte of coded) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((byte >> bit) & 1);
      bits++;
      const entry = BY_LENGTH.get(bits);
      const decoded = entry === undefined ? undefined : entry.bytes[code - entry.first];
      if (decoded !== undefined) {
        text += decoded;
        code = 0;
        bits = 0;
      } else if (bits > LONGEST_BITS) return undefined;
    }
  }
  // What is left over is padding: the first bits of EOS, which are ones.
  return bits < 8 && code === (1 << bits) - 1 ? text : undefined;
}
