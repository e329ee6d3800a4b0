import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { listenTls } from '../../src/proxy/ops/listen-tls.ts';
import { listenUnix } from '../../src/proxy/ops/listen-unix.ts';
import type { Listener } from '../../src/proxy/ops/listener.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { loadServerTls } from '../../src/proxy/ops/tls-files.ts';
import { createGrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import { deferred } from '../peers/deferred.ts';
import { type Pair, Pki } from '../peers/pki.ts';

const pki = new Pki();
const directory = mkdtempSync(join(tmpdir(), 'kts-gone-'));
let ca: Pair;
let pair: Pair;

before(async () => {
  ca = await pki.authority('test CA');
  pair = await pki.server(ca);
});
after(() => {
  pki.remove();
  rmSync(directory, { recursive: true });
});

const common = { label: 'x', log: silentLog };

/** How a gRPC server comes to its connections, and how a client gets one. Ours are accepted half-open. */
const ways: Record<string, (inject: (socket: Socket) => void) => Promise<[Listener, () => Socket]>> = {
  'a Unix socket': async (inject) => {
    const path = join(directory, 's');
    const listener = await listenUnix({ ...common, path, onConnection: inject });
    return [listener, () => connectSocket({ path, allowHalfOpen: true })];
  },
  TLS: async (inject) => {
    const labels = { cert: 'cert', key: 'key', ca: 'ca' };
    const tls = loadServerTls({ certFile: pair.certFile, keyFile: pair.keyFile, labels });
    const where = { host: '127.0.0.1', port: 0, tls, alpn: ['h2'] };
    const listener = await listenTls({
      ...common,
      ...where,
      onConnection: inject,
      onHandshakeError: assert.fail,
    });
    const to = { host: '127.0.0.1', port: listener.port, ca: ca.cert, ALPNProtocols: ['h2'] };
    return [listener, () => connectTls({ ...to, allowHalfOpen: true } as object)];
  },
};

for (const [way, listen] of Object.entries(ways)) {
  for (const end of ['destroy', 'end'] as const) {
    test(`a client whose connection over ${way} ends (${end}) without a GOAWAY leaves no session and no call`, async () => {
      const cancelled = deferred<void>();
      const closed = deferred<void>();
      const grpc = createGrpcServer({
        handlers: {
          '/test/Echo': (call) => {
            call.on('error', () => {});
            call.on('cancelled', () => cancelled.resolve());
            call.on('data', (bytes: Buffer) => call.write(bytes));
          },
        },
      });
      const [listener, connect] = await listen((socket) => {
        socket.once('close', () => closed.resolve());
        grpc.injectConnection(socket);
      });
      const socket = connect();
      const session = http2.connect('http://test', { createConnection: () => socket });
      session.on('error', () => {});
      const request = session.request({
        ':method': 'POST',
        ':path': '/test/Echo',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      request.on('error', () => {});
      request.write(Buffer.from([0, 0, 0, 0, 1, 65]));
      await once(request, 'data');
      socket[end]();
      await Promise.all([cancelled.promise, closed.promise]);
      assert.equal(grpc.sessions, 0);
      socket.destroy();
      await grpc.close();
      await listener.close();
    });
  }
}
