/** Bytes that are no message. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

const TWO_32 = 2 ** 32;
/** Below it a number times 128 and seven bits more are exact. */
const EXACT_BYTES = 7;

/** Reads fields of a protobuf message. Every read checks its bounds. @throws MalformedMessageError */
export class MessageReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;
  #end: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#end = bytes.length;
  }

  /** Whether the message, or the one in it that was entered, has more fields. */
  get more(): boolean {
    return this.#at < this.#end;
  }

  /** Field number times 8 and wire type. */
  tag(): number {
    const tag = this.#low32();
    if (tag >>> 3 === 0) throw new MalformedMessageError('field number 0');
    return tag;
  }

  bool(): boolean {
    return this.int64() !== 0;
  }

  int32(): number {
    return this.#low32() | 0;
  }

  /** As a number; beyond 2^53 it is inexact. */
  int64(): number {
    const start = this.#at;
    let value = 0;
    let scale = 1;
    // Up to 49 bits without a bigint.
    for (let i = 0; i < EXACT_BYTES; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    this.#at = start;
    return Number(this.bigInteger());
  }

  bigInteger(): bigint {
    let big = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      big |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, big);
    }
    throw new MalformedMessageError('a number of more than ten bytes');
  }

  double(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  string(): string {
    const length = this.#low32();
    const start = this.#take(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** Goes into a message in this one. @returns what `leave` is to be given at its end */
  enter(): number {
    const length = this.#low32();
    const outer = this.#end;
    if (length > outer - this.#at) throw new MalformedMessageError('cut off');
    this.#end = this.#at + length;
    return outer;
  }

  /** Goes on behind the message that was entered. */
  leave(outer: number): void {
    this.#at = this.#end;
    this.#end = outer;
  }

  /** Passes over a field that is not known. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.bigInteger();
        return;
      case 1:
        this.#take(8);
        return;
      case 2:
        this.#take(this.#low32());
        return;
      case 5:
        this.#take(4);
        return;
      default:
        throw new MalformedMessageError(`wire type ${tag & 7}`);
    }
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new MalformedMessageError('cut off');
    return this.#bytes[this.#at++] as number;
  }

  /** The low 32 bits of a number. */
  #low32(): number {
    let byte = this.#byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    for (let i = 1; i < 10; i++) {
      byte = this.#byte();
      if (i < 5) value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value % TWO_32;
      scale *= 0x80;
    }
    throw new MalformedMessageError('a number of more than ten bytes');
  }

  #take(bytes: number): number {
    const start = this.#at;
    if (bytes > this.#end - start) throw new MalformedMessageError('cut off');
    this.#at = start + bytes;
    return start;
  }
}
