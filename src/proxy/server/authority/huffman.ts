/**
 * Code lengths in bits of HPACK's Huffman code (RFC 7541, appendix B) for the bytes 0 to 255, as base-36 digits. The
 * code is canonical, so the lengths are enough to decode it.
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';

const LONGEST_BITS = 30;

/** By length in bits: the first code of that length, and the bytes that have one, in the order of their codes. */
const BY_LENGTH = tables();

function tables(): ReadonlyMap<number, { readonly first: number; readonly bytes: readonly string[] }> {
  const map = new Map<number, { first: number; bytes: string[] }>();
  let next = 0;
  for (let bits = 1; bits <= LONGEST_BITS; bits++) {
    next *= 2;
    const bytes = Array.from(LENGTHS, (digit, byte) => (Number.parseInt(digit, 36) === bits ? byte : -1))
      .filter((byte) => byte >= 0)
      .map((byte) => String.fromCharCode(byte));
    if (bytes.length > 0) map.set(bits, { first: next, bytes });
    next += bytes.length;
  }
  return map;
}

/** Decodes a Huffman-coded string to one character per byte; undefined when it is not well formed. */
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
