import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { setTimeout as pass } from 'node:timers/promises';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeResponse, dialResponse } from '../../src/proxy/wire/packets.ts';
import type { Pattern } from './pattern.ts';
import type { ScriptedStream } from './scripted-stream.ts';

/** How slowly, in bytes at most each time, and milliseconds. */
export interface SlowReading {
  readonly bytes: number;
  readonly chunkBytes: number;
  readonly everyMs: number;
}

/**
 * Takes a little at a time, and checks that every byte came, and the end unless it `stays`. The pauses are what is tested.
 * @param before bytes that were taken already
 */
export async function takeSlowly(
  tunnel: Duplex,
  reading: SlowReading,
  pattern: Pattern,
  end: 'ends' | 'stays' = 'ends',
  before = 0,
): Promise<void> {
  let taken = before;
  const over = new Promise<void>((resolve) => {
    tunnel.once('end', resolve).once('close', resolve);
  });
  for (let goal = before; goal < reading.bytes; ) {
    await pass(reading.everyMs);
    goal = Math.min(goal + reading.chunkBytes, reading.bytes);
    while (taken < goal) {
      const chunk: Buffer | null = tunnel.read(Math.min(tunnel.readableLength, goal - taken) || undefined);
      if (chunk !== null) {
        pattern.check(taken, chunk);
        taken += chunk.length;
      } else if (tunnel.readableEnded || tunnel.destroyed) {
        assert.fail(`${taken} of ${reading.bytes} bytes came (${tunnel.errored?.message ?? 'then the end'})`);
      } else await Promise.race([new Promise((resolve) => tunnel.once('readable', resolve)), over]);
    }
  }
  if (end === 'ends') {
    tunnel.on('data', () => assert.fail('more bytes came than were sent'));
    await over;
    assert.ok(tunnel.readableEnded, 'the end is an orderly one');
  }
  tunnel.destroy();
}

/** Takes what comes in small pieces, with a turn of the event loop behind each, until `enough`. Returns how much it was. */
export async function readUntil(tunnel: Duplex, enough: () => boolean, pattern: Pattern): Promise<number> {
  let taken = 0;
  while (!enough()) {
    const chunk: Buffer | null = tunnel.read(Math.min(tunnel.readableLength, 16 * 1024) || undefined);
    if (chunk !== null) {
      pattern.check(taken, chunk);
      taken += chunk.length;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return taken;
}

/** Answers every dial as a Go agent does, and sends all bytes, and the end unless it `stays`, waiting for nothing. */
export function sendAsGoAgent(
  agent: ScriptedStream,
  bytes: number,
  pattern: Pattern,
  end: 'ends' | 'stays' = 'ends',
): void {
  let connectId = 0;
  agent.onPacket = (packet) => {
    // Over public streams that is how it is probed; silence would end its stream.
    if (packet.type === PacketType.CLOSE_REQ)
      agent.send(closeResponse(packet.connectId, 'Unknown connectID'));
    if (packet.type !== PacketType.DIAL_REQ) return;
    agent.send(dialResponse(packet.dialId, ++connectId));
    for (let at = 0; at < bytes; at += 4096) {
      agent.stream.sendFrame(encodeDataFrame(connectId, pattern.bytes(at, Math.min(4096, bytes - at))));
    }
    if (end === 'ends') agent.send(closeResponse(connectId));
  };
}
