import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeFrame } from '../../src/proxy/wire/decode.ts';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { Link } from '../../src/proxy/wire/link.ts';
import {
  LinkPace,
  MAX_LINK_WINDOW_BYTES,
  MIN_LINK_WINDOW_BYTES,
  SAFE_LINK_WINDOW_BYTES,
} from '../../src/proxy/wire/link-pace.ts';
import type { LinkQueue } from '../../src/proxy/wire/link-queue.ts';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import type { PacketStream } from '../../src/proxy/wire/packet-stream.ts';
import { closeRequest, ping } from '../../src/proxy/wire/packets.ts';

const CHUNK = Buffer.alloc(64 * 1024);

/** A stream that keeps what is sent. */
function stream(): PacketStream & { sent: Packet[]; full: boolean } {
  const sent: Packet[] = [];
  const kept = {
    sent,
    full: false,
    open: true,
    sendFrame(frame: Buffer): boolean {
      sent.push(decodeFrame(frame));
      return !kept.full;
    },
    sendData: (connectId: number, payload: Buffer): boolean =>
      kept.sendFrame(encodeDataFrame(connectId, payload)),
  };
  return kept as unknown as PacketStream & { sent: Packet[]; full: boolean };
}

/** What was sent, as type and connectID. */
function order(packets: readonly Packet[]): string[] {
  return packets.map((packet) =>
    packet.type === PacketType.DATA ? `${packet.connectId}` : `type ${packet.type}`,
  );
}

/** Three tunnels with bulk that waits: each has two packets in its queue, and all were served before. */
function busyLink() {
  const below = stream();
  let nowMs = 0;
  // Each look at the clock is a grant later: the link is so slow that its window stays the least.
  const link = new Link(below, 'agent', true, () => (nowMs += 20));
  const bulk = [1, 2, 3].map((connectId) => link.queue(connectId, { onLinkFree: () => {} }));
  const wait = (): void => {
    while (link.sendData(bulk[0] as LinkQueue, CHUNK));
    link.sendData(bulk[0] as LinkQueue, CHUNK);
    for (const queue of bulk.slice(1))
      for (let i = 0; i < 2; i++) assert.equal(link.sendData(queue, CHUNK), false);
  };
  wait();
  while (bulk.some((queue) => !queue.empty)) link.granted(CHUNK.length);
  wait();
  below.sent.length = 0;
  return { below, link, bulk };
}

describe('a link that several tunnels share', () => {
  it('sends no more than its window until the peer grants it back', () => {
    const { below, link } = busyLink();
    assert.equal(below.sent.length, 0);
    link.granted(CHUNK.length);
    assert.equal(below.sent.length, 1);
  });

  it('lets tunnels send in turn', () => {
    const { below, link } = busyLink();
    while (below.sent.length < 6) link.granted(CHUNK.length);
    assert.deepEqual(order(below.sent).slice(0, 6).sort(), ['1', '1', '2', '2', '3', '3']);
    assert.equal(new Set(order(below.sent).slice(0, 3)).size, 3);
  });

  it('shares by bytes, not by packets', () => {
    const { below, link, bulk } = busyLink();
    const small = link.queue(4, { onLinkFree: () => {} });
    for (let i = 0; i < 40; i++) link.sendData(small, Buffer.alloc(4096));
    for (const queue of bulk) link.sendData(queue, CHUNK);
    for (let i = 0; i < 12; i++) link.granted(CHUNK.length);
    const of = (id: number): number =>
      below.sent.filter((one) => one.connectId === id).reduce((sum, one) => sum + one.data.length, 0);
    assert.ok(of(4) >= 2 * CHUNK.length, `${of(4)} bytes of the one with small packets`);
    assert.ok(of(1) <= 3 * CHUNK.length);
  });

  it('takes a tunnel that begins to send before bulk, though the queues of bulk ran empty in between', () => {
    const { below, link } = busyLink();
    const first = link.queue(9, { onLinkFree: () => {} });
    while (link.sendData(first, Buffer.alloc(8 * 1024)));
    below.sent.length = 0;
    // More than goes beyond the window.
    for (let id = 10; id < 20; id++) {
      const next = link.queue(id, { onLinkFree: () => {} });
      if (link.sendData(next, Buffer.alloc(8 * 1024))) continue;
      below.sent.length = 0;
      while (below.sent.length === 0) link.granted(CHUNK.length);
      assert.equal(below.sent[0]?.connectId, id);
      return;
    }
    assert.fail('all of them were sent at once');
  });

  it('lets a keystroke go at once though the window is full, and of what follows it only one packet a round', () => {
    const { below, link, bulk } = busyLink();
    const keys = link.queue(9, { onLinkFree: () => {} });
    assert.equal(link.sendData(keys, Buffer.from('k')), true);
    assert.equal(link.sendData(keys, Buffer.from('e')), false);
    assert.deepEqual(order(below.sent), ['9']);
    while (bulk.some((queue) => !queue.empty)) link.granted(CHUNK.length);
    link.granted(CHUNK.length);
    assert.equal(below.sent.filter((one) => one.connectId === 9).length, 2);
  });

  it('lets no more than 64 KiB of small packets go beyond the window, by however many tunnels', () => {
    const { below, link } = busyLink();
    for (let id = 10; id < 1000; id++) {
      link.sendData(link.queue(id, { onLinkFree: () => {} }), Buffer.alloc(1024));
    }
    const bytes = below.sent.reduce((sum, one) => sum + one.data.length, 0);
    assert.ok(bytes > 32 * 1024 && bytes <= 64 * 1024, `${bytes}`);
  });

  it('sends control packets at once, and what closes a tunnel behind its data', () => {
    const { below, link, bulk } = busyLink();
    link.send(ping(1));
    link.sendLast(bulk[1] as LinkQueue, closeRequest(2));
    assert.deepEqual(order(below.sent), [`type ${PacketType.PING}`]);
    while (!bulk[1]?.empty) link.granted(CHUNK.length);
    const ofTwo = below.sent.filter((one) => one.connectId === 2).map((one) => one.type);
    assert.deepEqual(ofTwo.slice(-3), [PacketType.DATA, PacketType.DATA, PacketType.CLOSE_REQ]);
  });

  it('tells a tunnel when all that waited of it has gone', () => {
    const below = stream();
    const link = new Link(below, 'agent', true);
    let told = 0;
    const queue = link.queue(1, { onLinkFree: () => told++ });
    while (link.sendData(queue, CHUNK));
    assert.equal(told, 0);
    link.granted(CHUNK.length);
    assert.equal(told, 1);
  });

  it('towards a peer without grants is held by the stream alone', () => {
    const below = stream();
    const link = new Link(below, 'agent', false);
    const queue = link.queue(1, { onLinkFree: () => {} });
    for (let sent = 0; sent < 100; sent++) assert.equal(link.sendData(queue, CHUNK), true);
    below.full = true;
    link.sendData(queue, CHUNK);
    assert.equal(link.sendData(queue, CHUNK), false);
    below.full = false;
    link.drained();
    assert.equal(below.sent.length, 102);
  });

  it('forgets what waits when the stream is gone', () => {
    const { below, link } = busyLink();
    link.end();
    link.granted(MIN_LINK_WINDOW_BYTES);
    assert.equal(below.sent.length, 0);
  });

  it('grants what arrived, once per turn of the event loop', async () => {
    const below = stream();
    const link = new Link(below, 'agent', true);
    for (let i = 0; i < 5; i++) link.received(CHUNK.length);
    assert.equal(below.sent.length, 0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      below.sent.map((one) => [one.type, one.connectId, one.amount]),
      [[PacketType.WINDOW, 0, 5 * CHUNK.length]],
    );
  });
});

describe('the pace of a link', () => {
  /** A path of that round trip and rate, of which the sender has always more to send. */
  function path(pace: LinkPace, clock: { ms: number }, roundTripMs: number, bytesPerMs: number) {
    const inFlight: { bytes: number; atMs: number }[] = [];
    let freeAtMs = clock.ms;
    const deliver = (): void => {
      while ((inFlight[0]?.atMs ?? Number.POSITIVE_INFINITY) <= clock.ms)
        pace.delivered(inFlight.shift()?.bytes ?? 0);
    };
    return {
      /** @param each what else happens every tenth of a millisecond */
      run(forMs = 40 * roundTripMs + 1_000, each: () => void = () => {}): void {
        for (const endMs = clock.ms + forMs; clock.ms < endMs; clock.ms += 0.1) {
          while (pace.open) {
            pace.sent(CHUNK.length);
            freeAtMs = Math.max(freeAtMs, clock.ms) + CHUNK.length / bytesPerMs;
            inFlight.push({ bytes: CHUNK.length, atMs: freeAtMs + roundTripMs });
          }
          deliver();
          each();
        }
      },
      /** Nothing more is sent until all is delivered. */
      rest(): void {
        for (; inFlight.length > 0; clock.ms += 0.1) deliver();
      },
    };
  }

  it('fills a long path and stays far below its ceiling on a short one', () => {
    const clock = { ms: 0 };
    const long = new LinkPace('agent', () => clock.ms);
    path(long, clock, 20, 200_000).run();
    assert.ok(long.windowBytes > 4_000_000, `${long.windowBytes}`);
    const short = new LinkPace('agent', () => clock.ms);
    path(short, clock, 0.2, 200_000).run();
    assert.ok(short.windowBytes < 1_000_000, `${short.windowBytes}`);
  });

  it('has three milliseconds of a short path under way, and one round trip of it while somebody waits', () => {
    const clock = { ms: 0 };
    const pace = new LinkPace('agent', () => clock.ms);
    const short = path(pace, clock, 0.2, 300_000);
    short.run();
    assert.ok(pace.windowBytes > 800_000 && pace.windowBytes < 1_000_000, `${pace.windowBytes}`);
    pace.hurry();
    assert.ok(pace.windowBytes < 400_000, `${pace.windowBytes}`);
    short.run(500);
    assert.ok(pace.windowBytes < 400_000, `${pace.windowBytes}`);
    short.run(1_000);
    assert.ok(pace.windowBytes > 800_000, `${pace.windowBytes}`);
  });

  it('fills a long path within a dozen round trips', () => {
    const clock = { ms: 0 };
    const pace = new LinkPace('server', () => clock.ms);
    path(pace, clock, 20, 200_000).run(12 * 20);
    assert.ok(pace.windowBytes > 4_000_000, `${pace.windowBytes}`);
  });

  it('is narrow while somebody waits beside bulk, and wide again a second later', () => {
    const clock = { ms: 0 };
    const pace = new LinkPace('agent', () => clock.ms);
    const long = path(pace, clock, 20, 200_000);
    long.run();
    const wide = pace.windowBytes;
    pace.hurry();
    const narrow = pace.windowBytes;
    assert.ok(narrow <= wide / 2 + 1, `${narrow} of ${wide}`);
    assert.ok(narrow > 1_000_000, 'a long path stays in use');
    long.run();
    assert.ok(pace.windowBytes > 1.5 * narrow, `${pace.windowBytes}, ${narrow} before`);
  });

  it('grows on a long path also where somebody waits all the time, as long as no queue is met', () => {
    const clock = { ms: 0 };
    const pace = new LinkPace('agent', () => clock.ms);
    path(pace, clock, 20, 200_000).run(1_000, () => pace.hurry());
    assert.ok(pace.windowBytes > 3_000_000, `${pace.windowBytes}`);
    assert.ok(pace.windowBytes < 6_000_000, `${pace.windowBytes}`);
  });

  it('of a server has no more than is safe under way while its agent sends in bulk, and more afterwards', () => {
    const clock = { ms: 0 };
    const pace = new LinkPace('server', () => clock.ms);
    const long = path(pace, clock, 20, 200_000);
    long.run(1_000);
    assert.ok(pace.windowBytes > SAFE_LINK_WINDOW_BYTES, `${pace.windowBytes}`);
    pace.arrived(MIN_LINK_WINDOW_BYTES + 1);
    assert.equal(pace.windowBytes, SAFE_LINK_WINDOW_BYTES);
    let most = 0;
    long.run(1_000, () => {
      pace.arrived(10_000);
      most = Math.max(most, pace.windowBytes);
    });
    assert.equal(most, SAFE_LINK_WINDOW_BYTES);
    long.run(1_000);
    assert.ok(pace.windowBytes > SAFE_LINK_WINDOW_BYTES, `${pace.windowBytes}`);
  });

  it('of an agent goes on beside a server that yields, and yields to one that does not', () => {
    const clock = { ms: 0 };
    const pace = new LinkPace('agent', () => clock.ms);
    const long = path(pace, clock, 20, 200_000);
    long.run(1_000, () => pace.arrived(SAFE_LINK_WINDOW_BYTES / 500));
    assert.ok(pace.windowBytes > SAFE_LINK_WINDOW_BYTES, `${pace.windowBytes}`);
    long.run(1_000, () => pace.arrived(40_000));
    assert.equal(pace.windowBytes, SAFE_LINK_WINDOW_BYTES);
  });

  it('begins with no more than is safe after a rest, though it had more before', () => {
    const clock = { ms: 0 };
    const pace = new LinkPace('server', () => clock.ms);
    const long = path(pace, clock, 20, 200_000);
    long.run(1_000);
    const before = pace.windowBytes;
    long.rest();
    long.run(10);
    assert.equal(pace.windowBytes, SAFE_LINK_WINDOW_BYTES);
    long.run(150);
    assert.ok(pace.windowBytes > before / 2, `${pace.windowBytes}, ${before} before`);
  });

  it('keeps its bounds', () => {
    const clock = { ms: 0 };
    const pace = new LinkPace('agent', () => clock.ms);
    path(pace, clock, 200, 2_000_000).run();
    assert.equal(pace.windowBytes, MAX_LINK_WINDOW_BYTES);
    const slow = new LinkPace('agent', () => clock.ms);
    path(slow, clock, 50, 10).run();
    assert.equal(slow.windowBytes, MIN_LINK_WINDOW_BYTES);
  });

  it('does not believe in the delivery of more than was sent', () => {
    const pace = new LinkPace('agent');
    pace.sent(1000);
    pace.delivered(Number.MAX_SAFE_INTEGER);
    assert.equal(pace.underWayBytes, 0);
    pace.sent(MIN_LINK_WINDOW_BYTES);
    assert.equal(pace.open, false);
  });
});
