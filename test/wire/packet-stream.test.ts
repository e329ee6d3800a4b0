import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { describe, type TestContext, test } from 'node:test';
import { blankPacket } from '../../src/proxy/wire/decode.ts';
import { encodeDataFrame, encodeFrame } from '../../src/proxy/wire/encode.ts';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest, ping } from '../../src/proxy/wire/packets.ts';
import { type Bed, type Bounds, makeBed, type Subject, subjects } from './stream-subjects.ts';

const compressed = Buffer.from([1, 0, 0, 0, 2, 8, 4]);
const notAPacket = Buffer.from([0, 0, 0, 0, 2, 8, 4]); // DATA without its payload

for (const [side, implementation] of subjects) {
  const both = async (t: TestContext, bounds: Bounds = {}): Promise<{ bed: Bed } & Subject> => {
    const bed = await makeBed(side, implementation, bounds);
    t.after(() => bed.close());
    return { bed, ...(await bed.open()) };
  };

  describe(`a PacketStream (${side}, ${implementation})`, { timeout: 20_000 }, () => {
    test('is of the implementation that was asked for', async (t) => {
      const { stream } = await both(t);
      assert.equal(stream.implementation, implementation === 'public' ? 'public' : 'fast');
    });

    test('delivers packets in order with their content', async (t) => {
      const { peer, told } = await both(t);
      const sent = Array.from({ length: 100 }, (_, i) => encodeDataFrame(i, Buffer.alloc(i * 97, i)));
      for (const frame of sent) peer.stream.write(frame);
      await told.arrived(100);
      assert.deepEqual(
        told.packets.map((packet) => packet.frame),
        sent,
      );
      assert.deepEqual(
        told.packets.map((packet) => [packet.connectId, packet.data.length]),
        sent.map((_, i) => [i, i * 97]),
      );
    });

    test('sends packets in order with their content', async (t) => {
      const { peer, stream } = await both(t);
      peer.read();
      const packets = [dialRequest(-5n, '10.0.0.1:80'), ping(7), data(3, Buffer.alloc(70_000, 9)), ping(8)];
      for (const packet of packets) stream.send(packet);
      await peer.arrived(4);
      assert.deepEqual(peer.frames, packets.map(encodeFrame));
    });

    test('sends a payload behind a head of its own as the same frame, in order with packets', async (t) => {
      const { peer, stream } = await both(t);
      peer.read();
      const sizes = [1, 127, 128, 65_536, 70_000];
      for (const size of sizes) {
        stream.sendData(300, Buffer.alloc(size, size));
        stream.send(ping(size));
      }
      await peer.arrived(2 * sizes.length);
      const expected = sizes.flatMap((size) => [
        encodeDataFrame(300, Buffer.alloc(size, size)),
        encodeFrame(ping(size)),
      ]);
      assert.deepEqual(peer.frames, expected);
    });

    test('says false from the high-water mark on for payloads, too', async (t) => {
      const { peer, stream, told } = await both(t, { highWaterMarkBytes: 100_000 });
      while (stream.sendData(1, Buffer.alloc(16_384)));
      assert.ok(stream.bufferedBytes < 300_000);
      peer.read();
      await told.drained();
    });

    test('shows bit by bit what the peer takes, not only when it has taken all', async (t) => {
      const { peer, stream } = await both(t, { highWaterMarkBytes: 100_000 });
      for (let i = 0; i < 128; i++) stream.sendData(1, Buffer.alloc(16_384));
      const seen = new Set<number>();
      peer.read();
      while (stream.bufferedBytes > 0) {
        seen.add(stream.bufferedBytes);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.ok(seen.size > 5, `seen: ${[...seen]}`);
    });

    test('keeps the order of what waits, and ends behind it', async (t) => {
      const { peer, stream } = await both(t, { highWaterMarkBytes: 50_000 });
      const expected: Buffer[] = [];
      for (let i = 0; i < 100; i++) {
        stream.sendData(300, Buffer.alloc(10_000, i));
        stream.send(ping(i));
        expected.push(encodeDataFrame(300, Buffer.alloc(10_000, i)), encodeFrame(ping(i)));
      }
      stream.end(0);
      peer.read();
      await peer.arrived(expected.length);
      assert.deepEqual(peer.frames, expected);
    });

    test('passes on a received frame as it stands', async (t) => {
      const { peer, stream, told } = await both(t);
      told.react = (packet) => stream.sendFrame(packet.frame);
      // An unknown field and a type from the future: an encoder of ours would drop both.
      const frame = Buffer.from([0, 0, 0, 0, 6, 0x08, 0xd0, 0x0f, 0xf8, 0x3f, 0x01]);
      peer.read().stream.write(frame);
      await peer.arrived(1);
      assert.deepEqual(peer.frames[0], frame);
    });

    test('resets a peer that does not read when it is aborted', async (t) => {
      const { peer, stream, told } = await both(t);
      for (let i = 0; i < 20; i++) stream.sendFrame(encodeDataFrame(1, Buffer.alloc(16_384)));
      await peer.roundTrip();
      assert.equal(stream.bufferedBytes > 0, true);
      stream.abort(1, 'slow-consumer');
      await peer.over();
      assert.equal(peer.stream.rstCode, constants.NGHTTP2_CANCEL);
      assert.equal((await told.ended()).cause, 'aborted');
      if (side === 'server') assert.equal(stream.bufferedBytes, 0);
    });

    test('takes messages that arrive a byte at a time', async (t) => {
      const { peer, told } = await both(t);
      const sent = [encodeDataFrame(300, Buffer.from('hello')), encodeFrame(ping(1)), encodeFrame(ping(2))];
      for (const byte of Buffer.concat(sent)) await peer.write(Buffer.from([byte]));
      await told.arrived(3);
      assert.deepEqual(
        told.packets.map((packet) => packet.frame),
        sent,
      );
    });

    test('takes many messages in one chunk, the last one cut', async (t) => {
      const { peer, told } = await both(t);
      const all = Buffer.concat(Array.from({ length: 1000 }, (_, i) => encodeFrame(ping(i + 1))));
      await peer.write(all.subarray(0, -3));
      await told.arrived(999);
      await peer.write(all.subarray(-3));
      await told.arrived(1000);
      assert.deepEqual(
        told.packets.map((packet) => packet.amount),
        Array.from({ length: 1000 }, (_, i) => i + 1),
      );
    });

    test('takes a message of the greatest size and refuses a larger one', async (t) => {
      const { peer, told } = await both(t, { maxMessageBytes: 1000 });
      const most = encodeDataFrame(1, Buffer.alloc(1000 - 10));
      assert.equal(most.length, 1005);
      peer.stream.write(most);
      await told.arrived(1);
      peer.read().stream.write(encodeDataFrame(1, Buffer.alloc(1000 - 9)));
      const end = await told.ended();
      await peer.settled();
      assert.equal(told.packets.length, 1);
      assert.equal(end.cause === 'malformed' || implementation === 'public', true);
      if (side === 'server') assert.equal(peer.trailers?.['grpc-status'], '8');
      else if (implementation !== 'public') assert.equal(end.code, 8);
    });

    test('ends after half-close or status, with all that came before', async (t) => {
      const { peer, told } = await both(t);
      for (let i = 0; i < 50; i++) peer.stream.write(encodeFrame(ping(i)));
      peer.finish(0);
      const end = await told.ended();
      assert.equal(end.cause, side === 'server' ? 'half-close' : 'status');
      assert.equal(end.code, 0);
      assert.equal(told.packets.length, 50);
    });

    test('hands over what was already here before it ends, also when paused meanwhile', async (t) => {
      const { peer, stream, told } = await both(t);
      told.react = () => {
        stream.pause();
        setImmediate(() => stream.resume());
      };
      for (let i = 0; i < 50; i++) await peer.write(encodeFrame(ping(i)));
      peer.finish(0);
      await told.ended();
      assert.equal(told.packets.length, 50);
      assert.equal(told.late, 0);
    });

    test('is ended when the peer resets it', async (t) => {
      const { peer, stream, told } = await both(t);
      peer.stream.close(constants.NGHTTP2_CANCEL);
      const end = await told.ended();
      assert.equal(end.cause, 'cancelled');
      assert.equal(end.code, 1);
      assert.equal(stream.open, false);
      assert.equal(stream.send(ping(1)), true);
    });

    test('is ended when the connection is lost, once', async (t) => {
      const { bed, stream, told } = await both(t);
      stream.send(ping(1));
      bed.cut();
      assert.equal((await told.ended()).cause, 'cancelled');
      await new Promise(setImmediate);
      assert.equal(told.ends.length, 1);
    });

    test('ends everything that was sent before its own end', async (t) => {
      const { peer, stream } = await both(t);
      for (let i = 0; i < 100; i++) stream.sendFrame(encodeDataFrame(i, Buffer.alloc(4096)));
      stream.end(side === 'server' ? 9 : 0, 'not now, "später"');
      assert.equal(stream.open, false);
      stream.send(ping(1));
      peer.read();
      await peer.inputOver();
      assert.equal(peer.frames.length, 100);
      if (side === 'server') {
        assert.equal(peer.trailers?.['grpc-status'], '9');
        assert.equal(decodeURI(String(peer.trailers?.['grpc-message'])), 'not now, "später"');
      }
    });

    test('says false from the high-water mark on, and drains when the peer reads', async (t) => {
      const { peer, stream, told } = await both(t, { highWaterMarkBytes: 100_000 });
      const frame = encodeDataFrame(1, Buffer.alloc(16_384));
      let accepted = 1;
      while (stream.sendFrame(frame)) accepted++;
      assert.equal(accepted * frame.length >= 100_000, true);
      assert.equal((accepted - 1) * frame.length < 200_000, true);
      // What is above the mark is accepted all the same: the peer's window (64 KiB) holds it here.
      for (let i = 0; i < 10; i++) assert.equal(stream.sendFrame(frame), false);
      assert.equal(stream.bufferedBytes >= 100_000, true);
      await peer.roundTrip();
      assert.equal(told.drains, 0);
      peer.read();
      await told.drained();
      assert.equal(stream.bufferedBytes < 100_000, true);
      await peer.arrived(accepted + 10);
      assert.equal(stream.sendFrame(frame), true);
    });

    test('lets a bounded number of packets through while paused, and all after resume', async (t) => {
      const { peer, stream, told } = await both(t, { windowBytes: 65_536 });
      told.react = (packet) => {
        if (packet.connectId === 0) stream.pause();
      };
      for (let i = 0; i < 200; i++) peer.stream.write(encodeDataFrame(i, Buffer.alloc(16_384)));
      await told.arrived(1);
      for (let i = 0; i < 20; i++) await peer.roundTrip();
      assert.equal(told.packets.length < 40, true);
      assert.equal(peer.stream.writableLength > 100 * 16_384, true);
      stream.resume();
      await told.arrived(200);
      assert.deepEqual(
        told.packets.map((packet) => packet.connectId),
        Array.from({ length: 200 }, (_, i) => i),
      );
    });

    test('ends alone on what is not a packet', async (t) => {
      const { bed, peer, told } = await both(t);
      const other = await bed.open();
      peer.read().stream.write(Buffer.concat([encodeFrame(ping(1)), notAPacket, encodeFrame(ping(2))]));
      const end = await told.ended();
      await peer.settled();
      assert.deepEqual([end.cause, end.code], ['malformed', 3]);
      assert.match(end.details, /^malformed-packet: /);
      assert.equal(told.packets.length, 1);
      if (side === 'server') {
        assert.equal(peer.trailers?.['grpc-status'], '3');
        assert.match(decodeURI(String(peer.trailers?.['grpc-message'])), /^malformed-packet: /);
      }
      other.peer.stream.write(encodeFrame(ping(3)));
      await other.told.arrived(1);
      other.stream.send(ping(4));
      await other.peer.read().arrived(1);
    });

    test('ends alone when its handler throws', async (t) => {
      const { bed, peer, told } = await both(t);
      const other = await bed.open();
      told.react = () => {
        throw new Error('handler bug');
      };
      peer.read().stream.write(Buffer.concat([encodeFrame(ping(1)), encodeFrame(ping(2))]));
      const end = await told.ended();
      await peer.settled();
      assert.deepEqual(end, { cause: 'aborted', code: 13, details: 'handler failed: handler bug' });
      assert.equal(told.packets.length, 1);
      other.peer.stream.write(encodeFrame(ping(3)));
      await other.told.arrived(1);
    });

    test('tells its owner of an abort later, and nothing more', async (t) => {
      const { peer, stream, told } = await both(t);
      told.react = () => {
        stream.abort(14, 'enough');
        assert.equal(told.ends.length, 0);
      };
      peer.read().stream.write(Buffer.concat([encodeFrame(ping(1)), encodeFrame(ping(2))]));
      assert.deepEqual(await told.ended(), { cause: 'aborted', code: 14, details: 'enough' });
      await peer.settled();
      assert.equal(told.packets.length, 1);
      assert.equal(told.ends.length, 1);
      assert.equal(stream.open, false);
      if (side === 'server') assert.equal(peer.trailers?.['grpc-status'], '14');
    });

    test('adds no listener to its connection that outlives it', async (t) => {
      const { bed, peer } = await both(t);
      const warnings: Error[] = [];
      const onWarning = (warning: Error): void => void warnings.push(warning);
      process.on('warning', onWarning);
      for (let i = 0; i < 30; i++) {
        const next = await bed.open();
        next.peer.read().stream.write(encodeFrame(ping(1)));
        await next.told.arrived(1);
        next.peer.finish(0);
        await next.told.ended();
        next.stream.end();
        await next.peer.settled();
      }
      await peer.roundTrip();
      process.off('warning', onWarning);
      assert.deepEqual(warnings, []);
    });

    test('can ping the peer, unless it is public', async (t) => {
      const { stream } = await both(t);
      if (implementation === 'public') {
        assert.equal(
          stream.ping(() => assert.fail('no pong can come')),
          false,
        );
        return;
      }
      const roundTripMs = await new Promise<number>((resolve) => assert.equal(stream.ping(resolve), true));
      assert.equal(roundTripMs > 0, true);
    });

    if (side === 'server') {
      test('may still send after the client half-closed', async (t) => {
        const { peer, stream, told } = await both(t);
        peer.finish();
        await told.ended();
        assert.equal(stream.open, true);
        stream.send(ping(1));
        stream.end(0);
        await peer.read().settled();
        assert.equal(peer.frames.length, 1);
        assert.equal(peer.trailers?.['grpc-status'], '0');
        assert.equal(told.ends.length, 1);
      });

      test('is told that its own end was carried out', async (t) => {
        const { peer, stream, told } = await both(t);
        peer.read();
        stream.send(ping(1));
        stream.end(7, 'no');
        peer.stream.write(encodeFrame(ping(2)));
        assert.deepEqual(await told.ended(), { cause: 'ended', code: 7, details: 'no' });
        assert.equal(told.packets.length, 0);
      });
    } else {
      test('gives code and details of the status', async (t) => {
        const { peer, told } = await both(t);
        peer.stream.write(encodeFrame(ping(1)));
        await told.arrived(1);
        peer.finish(7, 'not allowed, “sorry”');
        assert.deepEqual(await told.ended(), { cause: 'status', code: 7, details: 'not allowed, “sorry”' });
      });

      test('receives packets after its half-close', async (t) => {
        const { peer, stream, told } = await both(t);
        peer.read();
        stream.end();
        await peer.inputOver();
        peer.stream.write(encodeFrame(ping(1)));
        peer.finish(0);
        assert.equal((await told.ended()).cause, 'status');
        assert.equal(told.packets.length, 1);
      });
    }
  });

  if (implementation === 'public') continue;

  describe(`a fast PacketStream (${side}, ${implementation})`, { timeout: 20_000 }, () => {
    const fast = async (t: TestContext, bounds: Bounds = {}): Promise<{ bed: Bed } & Subject> => {
      const bed = await makeBed(side, implementation, bounds);
      t.after(() => bed.close());
      return { bed, ...(await bed.open()) };
    };

    test('refuses a compressed message', async (t) => {
      const { peer, told } = await fast(t);
      peer.read().stream.write(compressed);
      const end = await told.ended();
      await peer.settled();
      assert.deepEqual([end.cause, end.code], ['malformed', 12]);
      if (side === 'server') assert.equal(peer.trailers?.['grpc-status'], '12');
    });

    test('takes an end within a message for a malformed one', async (t) => {
      const { peer, told } = await fast(t);
      peer.read().stream.write(encodeFrame(ping(300)).subarray(0, -1));
      peer.finish(0);
      const end = await told.ended();
      assert.deepEqual([end.cause, end.code], ['malformed', 3]);
      await peer.settled();
    });

    test('makes no copy of a message that came in one chunk', async (t) => {
      const { peer, told } = await fast(t);
      peer.stream.write(Buffer.concat([encodeFrame(ping(1)), encodeFrame(ping(2))]));
      await told.arrived(2);
      const [first, second] = told.packets as [Packet, Packet];
      assert.equal(first.frame.buffer, second.frame.buffer);
    });

    if (side === 'client') {
      test('keeps packets back while paused, also when the status is already here', async (t) => {
        const { peer, stream, told } = await fast(t);
        stream.pause();
        for (let i = 0; i < 20; i++) peer.stream.write(encodeFrame(ping(i)));
        peer.finish(9, 'over');
        for (let i = 0; i < 5; i++) await peer.roundTrip();
        assert.equal(told.packets.length, 0);
        assert.equal(told.ends.length, 0);
        stream.resume();
        assert.deepEqual(await told.ended(), { cause: 'status', code: 9, details: 'over' });
        assert.equal(told.packets.length, 20);
      });
    } else {
      test('is over after a while without a half-close of the client', async (t) => {
        const { peer, stream } = await fast(t, { endStallMs: 5 });
        peer.read();
        stream.send(ping(1));
        stream.end(5, 'gone');
        await peer.over();
        assert.equal(peer.frames.length, 1);
        assert.equal(peer.trailers?.['grpc-status'], '5');
      });

      test('resets a peer that reads nothing of what came before the end', async (t) => {
        const { peer, stream, told } = await fast(t, { endStallMs: 5 });
        for (let i = 0; i < 20; i++) stream.sendFrame(encodeDataFrame(1, Buffer.alloc(16_384)));
        stream.end(0);
        assert.equal((await told.ended()).cause, 'cancelled');
        await peer.over();
        assert.equal(peer.stream.rstCode, constants.NGHTTP2_CANCEL);
      });
    }
  });
}

function data(connectId: number, bytes: Buffer): Packet {
  const packet = blankPacket(PacketType.DATA);
  packet.connectId = connectId;
  packet.data = bytes;
  return packet;
}
