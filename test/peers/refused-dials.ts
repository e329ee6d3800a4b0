import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { MOST_ENDED_TUNNELS } from '../../src/proxy/server/ended-tunnel.ts';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { openPublicPacketStream } from '../../src/proxy/wire/client-stream.ts';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest } from '../../src/proxy/wire/packets.ts';
import { PROXY_PATH } from '../../src/proxy/wire/services.ts';
import { received } from './connect-request.ts';
import { until } from './sockets-left.ts';
import type { TestServer } from './test-server.ts';

const AT_ONCE = 20;
/** What the requests that are under way have open at most, at both ends, and some. */
const OWN_DESCRIPTORS = 2 * AT_ONCE + 10;

const descriptors = (): number => readdirSync('/proc/self/fd').length;

/** Dials a server that has no agent, many at a time: each is refused as it should be, and descriptors stay flat. */
export async function dialWithoutAgent(
  server: TestServer,
  mode: 'http-connect' | 'grpc',
  requests: number,
): Promise<void> {
  const before = descriptors();
  const { buffers, counters } = server.server;
  const refusedBefore = counters.dialFailures.get('no_agent') ?? 0;
  const client = new Client(`unix:${server.grpcPath}`, credentials.createInsecure(), {
    ...clientOptions(),
    'grpc.default_authority': 'localhost',
  });
  let next = 0;
  const asker = async (): Promise<void> => {
    for (let request = next++; request < requests; request = next++) {
      if (mode === 'grpc') await dialByGrpc(client, BigInt(request + 1));
      else await dialByConnect(server.connectPath);
      if (request % 500 === 0) assert.ok(descriptors() <= before + OWN_DESCRIPTORS, `${descriptors()} open`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, asker));
  } finally {
    client.close();
  }
  await until(() => counters.connectFrontends + counters.grpcFrontends === 0, 'every client gone');
  assert.equal(counters.pendingDials, 0);
  assert.equal((counters.dialFailures.get('no_agent') ?? 0) - refusedBefore, requests);
  assert.equal(counters.establishedTunnels + buffers.heldBytes + buffers.promisedBytes, 0);
  assert.ok([...server.server.endedTunnels.newestFirst()].length <= MOST_ENDED_TUNNELS);
  await until(() => descriptors() <= before, 'descriptors as before');
}

async function dialByConnect(path: string): Promise<void> {
  const socket = connect(path);
  socket.on('error', () => {}).write('CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match((await received(socket)).toString(), /^HTTP\/1\.1 503 /);
}

async function dialByGrpc(client: Client, id: bigint): Promise<void> {
  const stream = openPublicPacketStream(client, PROXY_PATH, new Metadata());
  const packets: Packet[] = [];
  const ended = new Promise<void>((resolve) => {
    stream.attach({ onPacket: (packet) => packets.push(packet), onDrain: () => {}, onEnd: () => resolve() });
  });
  stream.send(dialRequest(id, '10.0.0.1:80'));
  await ended;
  const answers = packets.map((packet) => [packet.type, packet.dialId]);
  assert.deepEqual(answers, [[PacketType.DIAL_RSP, id]]);
}
