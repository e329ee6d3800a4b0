import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

/** A prime, so that no power of two of lost or doubled bytes goes unseen. */
const TABLE_BYTES = 1_048_573;
const table = makeTable();

/**
 * The bytes of one direction of one stream, each known by the stream's number and its offset: what is lost, doubled,
 * out of order or another stream's is found within a few bytes.
 */
export class Pattern {
  readonly #name: string;
  readonly #start: number;

  constructor(streamNumber: number, direction: 'up' | 'down') {
    this.#name = `stream ${streamNumber} ${direction}`;
    const hash = createHash('sha256').update(this.#name).digest();
    this.#start = hash.readUInt32BE(0) % TABLE_BYTES;
  }

  /** The bytes from `offset` on. */
  bytes(offset: number, count: number): Buffer {
    const bytes = Buffer.allocUnsafe(count);
    this.#eachPart(offset, count, (part, at) => part.copy(bytes, at));
    return bytes;
  }

  /** Fails unless `received` are the bytes from `offset` on. */
  check(offset: number, received: Buffer): void {
    this.#eachPart(offset, received.length, (part, at) => {
      if (part.equals(received.subarray(at, at + part.length))) return;
      let wrong = 0;
      while (part[wrong] === received[at + wrong]) wrong++;
      assert.fail(`${this.#name} has another byte at ${offset + at + wrong} than was sent`);
    });
  }

  #eachPart(offset: number, count: number, take: (part: Buffer, at: number) => void): void {
    for (let at = 0; at < count; ) {
      const from = (this.#start + offset + at) % TABLE_BYTES;
      const part = table.subarray(from, Math.min(from + count - at, TABLE_BYTES));
      take(part, at);
      at += part.length;
    }
  }
}

function makeTable(): Buffer {
  const blocks: Buffer[] = [];
  for (let i = 0; i * 64 < TABLE_BYTES; i++) blocks.push(createHash('sha512').update(`block ${i}`).digest());
  return Buffer.concat(blocks).subarray(0, TABLE_BYTES);
}
