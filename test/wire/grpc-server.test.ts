import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import tls from 'node:tls';
import { type ChannelCredentials, Client, credentials, Metadata } from '@grpc/grpc-js';
import { clientOptions, LINK_HTTP2_WINDOW_BYTES } from '../../src/proxy/wire/client-options.ts';
import { openPacketStream } from '../../src/proxy/wire/client-stream.ts';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { serverCallSocket } from '../../src/proxy/wire/grpc-internals.ts';
import { createGrpcServer, type GrpcServer } from '../../src/proxy/wire/grpc-server.ts';
import { ping } from '../../src/proxy/wire/packets.ts';
import { serverPacketStream } from '../../src/proxy/wire/server-stream.ts';
import { CONNECT_PATH } from '../../src/proxy/wire/services.ts';
import { type Pair, Pki } from '../peers/pki.ts';
import { Changes, listen, request, Told } from './stream-subjects.ts';

interface Echo {
  readonly server: GrpcServer;
  readonly calls: { peer: string; commonName: string | undefined }[];
  readonly errors: { remote: string; error: Error }[];
  readonly changes: Changes;
}

/** A server that sends every packet back. */
function echoServer(t: TestContext, windowBytes?: number, idleTimeoutMs?: number): Echo {
  const calls: Echo['calls'] = [];
  const errors: Echo['errors'] = [];
  const changes = new Changes();
  const server = createGrpcServer({
    ...(windowBytes === undefined ? {} : { windowBytes }),
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    handlers: {
      [CONNECT_PATH]: (call) => {
        const socket = serverCallSocket(call);
        const commonName =
          socket instanceof tls.TLSSocket ? socket.getPeerCertificate().subject.CN?.toString() : undefined;
        calls.push({ peer: call.getPeer(), commonName });
        const stream = serverPacketStream(call);
        const told = new Told();
        told.react = (packet) => stream.sendFrame(packet.frame);
        stream.attach(told);
      },
    },
    onSessionError: (remote, error) => {
      errors.push({ remote, error });
      changes.check();
    },
  });
  t.after(() => server.close());
  return { server, calls, errors, changes };
}

async function echoes(target: string, channel: ChannelCredentials, count = 50): Promise<void> {
  const client = new Client(target, channel, clientOptions());
  try {
    const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
    const told = new Told();
    stream.attach(told);
    let sent = 0;
    const next = (): void => {
      if (sent < count) stream.sendFrame(encodeDataFrame(sent, Buffer.alloc(65_536, sent++)));
    };
    told.react = next;
    next();
    next();
    await told.arrived(count);
    assert.equal(
      told.packets.every(
        (packet, i) => packet.connectId === i && packet.data.equals(Buffer.alloc(65_536, i)),
      ),
      true,
    );
    stream.abort(1, 'done');
    await told.ended();
  } finally {
    client.close();
  }
}

describe('a gRPC server on injected connections', { timeout: 30_000 }, () => {
  let pki: Pki;
  let ca: Pair;
  let serverPair: Pair;
  let clientPair: Pair;

  before(async () => {
    pki = new Pki();
    ca = await pki.authority('ca');
    serverPair = await pki.server(ca);
    clientPair = await pki.issue(ca, { commonName: 'node-a', usage: 'client' });
  });
  after(() => pki.remove());

  test('serves TCP and knows the peer', async (t) => {
    const { server, calls } = echoServer(t);
    const listener = await listen((socket) => server.injectConnection(socket));
    t.after(() => listener.close());
    await echoes(`127.0.0.1:${(listener.address() as AddressInfo).port}`, credentials.createInsecure());
    assert.match(calls[0]?.peer ?? '', /^127\.0\.0\.1:\d+$/);
  });

  test('serves a Unix socket', async (t) => {
    const { server } = echoServer(t);
    const directory = mkdtempSync(join(tmpdir(), 'kts-'));
    const path = join(directory, 's');
    const listener = net.createServer((socket) => server.injectConnection(socket)).listen(path);
    await once(listener, 'listening');
    t.after(() => {
      listener.close();
      rmSync(directory, { recursive: true });
    });
    await echoes(`unix:${path}`, credentials.createInsecure());
  });

  test('serves TLS after the handshake and knows the client certificate', async (t) => {
    const { server, calls } = echoServer(t);
    const listener = tls.createServer(
      {
        cert: serverPair.cert,
        key: serverPair.key,
        ca: ca.cert,
        requestCert: true,
        rejectUnauthorized: true,
        ALPNProtocols: ['h2'],
      },
      (socket) => server.injectConnection(socket),
    );
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    t.after(() => listener.close());
    const channel = credentials.createSsl(
      Buffer.from(ca.cert),
      Buffer.from(clientPair.key),
      Buffer.from(clientPair.cert),
    );
    // By name: for an address grpc-js would offer it as a server name.
    await echoes(`localhost:${(listener.address() as AddressInfo).port}`, channel);
    assert.match(calls[0]?.peer ?? '', /^127\.0\.0\.1:\d+$/);
    assert.equal(calls[0]?.commonName, 'node-a');
  });

  test('ends a connection that speaks no HTTP/2, and that one alone', async (t) => {
    const { server, errors, changes } = echoServer(t);
    const listener = await listen((socket) => server.injectConnection(socket));
    t.after(() => listener.close());
    const { port } = listener.address() as AddressInfo;
    const garbage = net.connect(port, '127.0.0.1');
    garbage.on('error', () => {});
    garbage.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    garbage.resume();
    await once(garbage, 'close');
    await changes.until(() => errors.length > 0);
    assert.match(errors[0]?.remote ?? '', /^127\.0\.0\.1:\d+$/);
    await echoes(`127.0.0.1:${port}`, credentials.createInsecure(), 2);
  });

  test('ends a connection that breaks HTTP/2 in the middle', async (t) => {
    const { server, errors, changes } = echoServer(t);
    const listener = await listen((socket) => server.injectConnection(socket));
    t.after(() => listener.close());
    const { port } = listener.address() as AddressInfo;
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    // SETTINGS, then a WINDOW_UPDATE by nothing.
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    socket.resume();
    await once(socket, 'close');
    await changes.until(() => errors.length > 0);
  });

  test('announces the window of its streams, and a large one for the connection', async (t) => {
    const { server } = echoServer(t, 3_000_000);
    const listener = await listen((socket) => server.injectConnection(socket));
    const session = http2.connect(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
    t.after(() => {
      session.destroy();
      listener.close();
    });
    const [settings] = (await once(session, 'remoteSettings')) as [http2.Settings];
    assert.equal(settings.initialWindowSize, 3_000_000);
    await new Promise((resolve) => session.ping(resolve));
    assert.equal(session.state.remoteWindowSize, LINK_HTTP2_WINDOW_BYTES);
  });

  test('widens the window of a stream once it is taken up with one', async (t) => {
    const server = createGrpcServer({
      windowBytes: 1_000_000,
      handlers: {
        [CONNECT_PATH]: (call) => {
          serverPacketStream(call, { windowBytes: 3_000_000 }).attach({
            onPacket: () => {},
            onDrain: () => {},
            onEnd: () => {},
          });
        },
      },
    });
    t.after(() => server.close());
    const listener = await listen((socket) => server.injectConnection(socket));
    const session = http2.connect(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
    t.after(() => {
      session.destroy();
      listener.close();
    });
    const [before] = (await once(session, 'remoteSettings')) as [http2.Settings];
    assert.equal(before.initialWindowSize, 1_000_000);
    const headers = {
      ':method': 'POST',
      ':path': CONNECT_PATH,
      'content-type': 'application/grpc',
      te: 'trailers',
    };
    session.request(headers).on('error', () => {});
    const [after] = (await once(session, 'remoteSettings')) as [http2.Settings];
    assert.equal(after.initialWindowSize, 3_000_000);
  });

  test('refuses what is not a gRPC request and goes on', async (t) => {
    const { server } = echoServer(t);
    const listener = await listen((socket) => server.injectConnection(socket));
    const session = http2.connect(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
    t.after(() => {
      session.destroy();
      listener.close();
    });
    for (const method of ['GET', 'HEAD']) {
      const read = session.request({
        ':method': method,
        ':path': CONNECT_PATH,
        'content-type': 'application/grpc',
      });
      const [head] = (await once(read, 'response')) as [http2.IncomingHttpHeaders];
      assert.equal(head[':status'], 405);
    }
    const plain = session.request({ ':method': 'POST', ':path': CONNECT_PATH });
    const [headers] = (await once(plain, 'response')) as [http2.IncomingHttpHeaders];
    assert.equal(headers[':status'], 415);
    const unknown = request(session, '/No/Such');
    const [refusal] = (await once(unknown, 'response')) as [http2.IncomingHttpHeaders];
    assert.equal(refusal['grpc-status'], '12');
  });

  test('closes every connection, also those with open streams and those that have not spoken', async (t) => {
    const { server, calls } = echoServer(t);
    const changes = new Changes();
    const listener = await listen((socket) => {
      server.injectConnection(socket);
      changes.check();
    });
    t.after(() => listener.close());
    const { port } = listener.address() as AddressInfo;
    const silent = net.connect(port, '127.0.0.1').on('error', () => {});
    silent.resume();
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), clientOptions());
    t.after(() => client.close());
    const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
    const told = new Told();
    stream.attach(told);
    stream.send(ping(1));
    await told.arrived(1);
    await changes.until(() => server.sessions === 2);
    const closed = once(silent, 'close');
    await server.close();
    assert.equal(server.sessions, 0);
    assert.equal((await told.ended()).cause, 'cancelled');
    await closed;
    assert.equal(calls.length, 1);
  });

  for (const [what, opening] of [
    ['says nothing', ''],
    ['opens HTTP/2 and calls nothing', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
  ] as const) {
    test(`ends a connection that ${what}, and none that has a stream`, async (t) => {
      const { server, calls } = echoServer(t, undefined, 20);
      const changes = new Changes();
      const listener = await listen((socket) => {
        socket.once('close', () => setImmediate(() => changes.check()));
        server.injectConnection(socket);
      });
      t.after(() => listener.close());
      const { port } = listener.address() as AddressInfo;
      const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), clientOptions());
      t.after(() => client.close());
      const { stream } = await openPacketStream(client, CONNECT_PATH, new Metadata());
      const told = new Told();
      stream.attach(told);
      // It does not end its own side either.
      const idle = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
      t.after(() => idle.destroy());
      idle.resume();
      idle.write(opening);
      await once(idle, 'end');
      await changes.until(() => server.sessions === 1);
      stream.send(ping(1));
      await told.arrived(1);
      assert.equal(calls.length, 1);
    });
  }

  test('destroys what is injected after its close', async (t) => {
    const { server } = echoServer(t);
    await server.close();
    const listener = await listen((socket) => server.injectConnection(socket));
    t.after(() => listener.close());
    const socket = net.connect((listener.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
    socket.resume();
    await once(socket, 'close');
    assert.equal(server.sessions, 0);
  });

  test('counts a connection only as long as it is open', async (t) => {
    const { server } = echoServer(t);
    const changes = new Changes();
    const listener = await listen((socket) => {
      server.injectConnection(socket);
      socket.once('close', () => setImmediate(() => changes.check()));
    });
    t.after(() => listener.close());
    await echoes(`127.0.0.1:${(listener.address() as AddressInfo).port}`, credentials.createInsecure(), 1);
    await changes.until(() => server.sessions === 0);
  });
});
