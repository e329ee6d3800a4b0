import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deframer } from '../../src/proxy/wire/deframer.ts';

const MIB = 1024 * 1024;

function frameOf(message: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

describe('Deframer', () => {
  it('holds little for a large message that was only announced', () => {
    const before = process.memoryUsage().arrayBuffers;
    const announced = frameOf(Buffer.alloc(4 * MIB)).subarray(0, 6);
    const deframers = Array.from({ length: 200 }, () => {
      const deframer = new Deframer(4 * MIB, () => true);
      deframer.push(announced);
      return deframer;
    });
    const heldBytes = process.memoryUsage().arrayBuffers - before;
    assert.ok(deframers.every((one) => one.midFrame));
    assert.ok(heldBytes < 100 * MIB, `${heldBytes} bytes held`);
  });

  for (const pieceBytes of [1000, 65_536, 3 * MIB]) {
    it(`gives a large message whole that came in pieces of ${pieceBytes} bytes, and the one behind it`, () => {
      const message = Buffer.alloc(MIB + 12_345);
      for (let at = 0; at < message.length; at += 4) message.writeUInt8((at >> 8) & 255, at);
      const sent = [frameOf(message), frameOf(Buffer.from('behind')), frameOf(Buffer.alloc(0))];
      const bytes = Buffer.concat(sent);
      const taken: Buffer[] = [];
      const deframer = new Deframer(4 * MIB, (frame) => taken.push(frame) > 0);
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        assert.equal(deframer.push(bytes.subarray(at, at + pieceBytes)), undefined);
      }
      assert.equal(deframer.midFrame, false);
      assert.deepEqual(
        taken.map((frame, index) => frame.equals(sent[index] as Buffer)),
        [true, true, true],
      );
    });
  }
});
