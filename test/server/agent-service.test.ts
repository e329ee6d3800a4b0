import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { silentLog } from '../../src/proxy/ops/log.ts';
import type { AgentAuthenticator } from '../../src/proxy/server/agent-authenticator.ts';
import { agentService } from '../../src/proxy/server/agent-service.ts';
import type { Backends } from '../../src/proxy/server/backends.ts';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { openPacketStream } from '../../src/proxy/wire/client-stream.ts';
import { createGrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import { serverPacketStream } from '../../src/proxy/wire/server-stream.ts';
import { CONNECT_PATH } from '../../src/proxy/wire/services.ts';
import { listen, Told } from '../wire/stream-subjects.ts';

const accepting: AgentAuthenticator = { check: async () => ({ kind: 'accepted' }) };

for (const authenticator of [undefined, accepting]) {
  const who = authenticator === undefined ? 'nobody checks' : 'was accepted';
  test(`a token that ${who} is not kept with the stream of its agent`, async (t) => {
    const kept: unknown[] = [];
    const handler = agentService({
      serverId: 'server-1',
      serverCount: 1,
      version: 'test',
      backends: { add: () => {} } as unknown as Backends,
      log: silentLog,
      authenticator,
      accepting: () => true,
      openStream: (call) => {
        kept.push(call.metadata.get('authorization'), call.metadata.get('agentID'));
        const stream = serverPacketStream(call);
        stream.attach(new Told());
        return stream;
      },
    });
    const server = createGrpcServer({ handlers: { [CONNECT_PATH]: handler } });
    const listener = await listen((socket) => server.injectConnection(socket));
    const { port } = listener.address() as AddressInfo;
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), clientOptions());
    t.after(async () => {
      client.close();
      await server.close();
      listener.close();
    });
    const metadata = new Metadata();
    metadata.set('agentID', 'a');
    metadata.set('authorization', `Bearer ${'x'.repeat(12_000)}`);
    const { stream } = await openPacketStream(client, CONNECT_PATH, metadata);
    stream.attach(new Told());
    assert.deepEqual(kept, [[], ['a']]);
  });
}
