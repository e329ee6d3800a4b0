/** Bytes that are no message. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

const TWO_32 = 2 ** 32;

/** Reads fields of a protobuf message. Every read checks its bounds. @throws MalformedMessageError */
export class MessageReader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

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
    return this.bigInteger() !== 0n;
  }

  int32(): number {
    return this.#low32() | 0;
  }

  /** As a number; beyond 2^53 it is inexact. */
  int64(): number {
    return Number(this.bigInteger());
  }

  bigInteger(): bigint {
    let value = 0;
    let scale = 1;
    // Up to 49 bits without a bigint.
    for (let i = 0; i < 7; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return BigInt(value);
      scale *= 0x80;
    }
    let big = BigInt(value);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      big |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, big);
    }
    throw new MalformedMessageError('a number of more than ten bytes');
  }

  double(): number {
    const start = this.#take(8);
    return this.#bytes.readDoubleLE(start);
  }

  string(): string {
    const length = this.#low32();
    const start = this.#take(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  message(): MessageReader {
    const length = this.#low32();
    const start = this.#take(length);
    return new MessageReader(this.#bytes, start, start + length);
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
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
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
