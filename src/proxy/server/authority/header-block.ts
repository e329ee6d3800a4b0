import { decodeHuffman } from './huffman.ts';

/** Index of `:authority` in HPACK's static table (RFC 7541, appendix A). */
const AUTHORITY_INDEX = 1;
/** What nghttp2 takes in an `:authority`; anything else makes it reset the stream with PROTOCOL_ERROR. */
const REFUSED = /[^A-Za-z0-9!$%&'()*+,\-.:;=@[\]_~]/g;

/**
 * Replaces what nghttp2 would refuse in the `:authority` of a connection's first header block. The new value is a
 * plain literal of equal length, so that the dynamic table, whose sizes count decoded bytes, stays in step with the
 * client's; later blocks that refer to the entry get the new value. A client that repeats the value as a literal
 * instead (no gRPC client does) still has those later streams reset.
 * @returns the new block; undefined when nothing needs to change, or the block is not understood (HTTP/2 then judges)
 */
export function mendAuthority(block: Buffer): Buffer | undefined {
  const literal = findAuthority(block);
  if (literal === undefined) return undefined;
  const { start, end, huffman, value } = literal;
  const text = huffman ? decodeHuffman(value) : value.toString('latin1');
  if (text === undefined) return undefined;
  const mended = text.replace(REFUSED, '-');
  if (mended === text) return undefined;
  return Buffer.concat([block.subarray(0, start), encodeString(mended), block.subarray(end)]);
}

interface StringLiteral {
  /** Where its length begins, and where it ends. */
  readonly start: number;
  readonly end: number;
  readonly huffman: boolean;
  readonly value: Buffer;
}

function findAuthority(block: Buffer): StringLiteral | undefined {
  let at = 0;
  while (at < block.length) {
    const first = block[at] as number;
    if (first >= 0x80) {
      // Indexed: nothing in the block itself.
      const index = readInteger(block, at, 7);
      if (index === undefined) return undefined;
      at = index.end;
      continue;
    }
    if (first >= 0x20 && first < 0x40) {
      // Dynamic table size update.
      const size = readInteger(block, at, 5);
      if (size === undefined) return undefined;
      at = size.end;
      continue;
    }
    // A literal: with incremental indexing (6-bit index), without, or never indexed (4 bits each).
    const name = readInteger(block, at, first >= 0x40 ? 6 : 4);
    if (name === undefined) return undefined;
    at = name.end;
    let isAuthority = name.value === AUTHORITY_INDEX;
    if (name.value === 0) {
      const literal = readString(block, at);
      if (literal === undefined) return undefined;
      at = literal.end;
      const text = literal.huffman ? decodeHuffman(literal.value) : literal.value.toString('latin1');
      isAuthority = text === ':authority';
    }
    const value = readString(block, at);
    if (value === undefined || isAuthority) return value;
    at = value.end;
  }
  return undefined;
}

function readString(block: Buffer, start: number): StringLiteral | undefined {
  const length = readInteger(block, start, 7);
  if (length === undefined || length.end + length.value > block.length) return undefined;
  const end = length.end + length.value;
  return {
    start,
    end,
    huffman: ((block[start] as number) & 0x80) !== 0,
    value: block.subarray(length.end, end),
  };
}

/** An integer with a prefix of `bits` (RFC 7541, 5.1). */
function readInteger(block: Buffer, at: number, bits: number): { value: number; end: number } | undefined {
  const mask = (1 << bits) - 1;
  const first = block[at];
  if (first === undefined) return undefined;
  let value = first & mask;
  if (value < mask) return { value, end: at + 1 };
  for (let shift = 0, next = at + 1; shift <= 21; shift += 7, next++) {
    const byte = block[next];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) << shift;
    if (byte < 0x80) return { value, end: next + 1 };
  }
  return undefined;
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 0x7f) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const head = [0x7f];
  let rest = bytes.length - 0x7f;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) head.push((rest % 0x80) | 0x80);
  head.push(rest);
  return Buffer.concat([Buffer.from(head), bytes]);
}
