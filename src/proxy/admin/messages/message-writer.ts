const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

/** Writes fields of protobuf messages into one buffer that grows and is used again. */
export class MessageWriter {
  #buffer = Buffer.allocUnsafe(4096);
  #at = 0;

  clear(): void {
    this.#at = 0;
  }

  /** What was written since clear(). */
  copy(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#at));
  }

  string(number: number, text: string): void {
    // A code unit of UTF-16 is three bytes of UTF-8 at most.
    const most = text.length * 3;
    this.#tag(number, BYTES, most + 5);
    const start = this.#at;
    const written = this.#buffer.write(text, start + 1);
    this.#prefix(start, written);
  }

  bytes(number: number, bytes: Buffer): void {
    this.#tag(number, BYTES, bytes.length + 5);
    this.#varint(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Non-integers are cut. Negative ones take ten bytes, as protobuf has it. */
  integer(number: number, value: number): void {
    const whole = Math.trunc(value);
    if (whole < 0) {
      this.bigInteger(number, BigInt(whole));
      return;
    }
    this.#tag(number, VARINT, 10);
    this.#varint(whole);
  }

  bigInteger(number: number, value: bigint): void {
    this.#tag(number, VARINT, 10);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.#buffer[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#buffer[this.#at++] = Number(rest);
  }

  double(number: number, value: number): void {
    this.#tag(number, FIXED64, 8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** A message within: `write` writes its fields. */
  message(number: number, write: () => void): void {
    this.#tag(number, BYTES, 5);
    const start = this.#at;
    this.#at++;
    write();
    const written = this.#at - start - 1;
    this.#reserve(5);
    this.#prefix(start, written);
  }

  /** Puts the length before `written` bytes that begin one byte behind `start`, and moves them where it is longer. */
  #prefix(start: number, written: number): void {
    let lengthBytes = 1;
    for (let rest = written; rest >= 0x80; rest = Math.floor(rest / 0x80)) lengthBytes++;
    if (lengthBytes > 1) this.#buffer.copyWithin(start + lengthBytes, start + 1, start + 1 + written);
    this.#at = start;
    this.#varint(written);
    this.#at += written;
  }

  #tag(number: number, wireType: number, room: number): void {
    this.#reserve(room + 5);
    this.#varint(number * 8 + wireType);
  }

  #varint(value: number): void {
    while (value >= 0x80) {
      this.#buffer[this.#at++] = (value % 0x80) | 0x80;
      value = Math.floor(value / 0x80);
    }
    this.#buffer[this.#at++] = value;
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#at));
    this.#buffer = larger;
  }
}
