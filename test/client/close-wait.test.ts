import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PacketTunnel } from '../../src/proxy/client/packet-tunnel.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { decodeFrame } from '../../src/proxy/wire/decode.ts';
import { encodeFrame } from '../../src/proxy/wire/encode.ts';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import type { PacketStream, PacketStreamHandler } from '../../src/proxy/wire/packet-stream.ts';
import { closeResponse, dialResponse } from '../../src/proxy/wire/packets.ts';

const CLOSE_MS = 10_000;

/** A tunnel whose stream is full at each DATA packet if `full`, and takes more in the next turn. */
async function ended(t: TestContext, full: boolean) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sent: Packet[] = [];
  let handler!: PacketStreamHandler;
  const stream: Partial<PacketStream> = {
    attach: (given) => {
      handler = given;
    },
    send: (packet) => sent.push(packet) > 0,
    sendFrame: (frame) => {
      sent.push(decodeFrame(frame));
      if (full) setImmediate(() => handler.onDrain());
      return !full;
    },
    pause: () => {},
    resume: () => {},
    end: () => {},
    abort: () => {},
  };
  const tunnel = new PacketTunnel({
    stream: stream as PacketStream,
    dialId: 1n,
    address: 'node:80',
    closeTimeoutMs: CLOSE_MS,
    closeTailMs: 10 * CLOSE_MS,
    refused: (error) => new Fault('refused-dial', error),
    ended: () => new Fault('tunnel-lost', 'ended'),
    release: () => {},
  });
  const answer = (packet: Packet): void => handler.onPacket(decodeFrame(encodeFrame(packet)));
  answer(dialResponse(1n, 7));
  await tunnel.answered;
  const closing = new Promise<void>((resolve) => tunnel.once('finish', resolve));
  tunnel.resume().end(Buffer.alloc(100_000));
  await closing;
  assert.equal(sent.at(-1)?.type, PacketType.CLOSE_REQ);
  return { tunnel, answer };
}

test('a gRPC tunnel that was never held up waits for the answer to its close no longer than its time', async (t) => {
  const { tunnel } = await ended(t, false);
  const lost = new Promise<Error>((resolve) => tunnel.once('error', resolve));
  t.mock.timers.tick(CLOSE_MS);
  assert.match((await lost).message, /CLOSE_REQ was not answered within 10 s/);
});

test('a gRPC tunnel whose bytes had to wait for a slow destination waits as long for the answer to its close', async (t) => {
  const { tunnel, answer } = await ended(t, true);
  t.mock.timers.tick(9 * CLOSE_MS);
  assert.equal(tunnel.destroyed, false);
  const end = new Promise<void>((resolve) => tunnel.once('end', resolve));
  answer(closeResponse(7));
  await end;
  assert.equal(tunnel.errored, null);
});
