import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { type ChannelCredentials, Client, Server, ServerCredentials, type ServiceError } from '@grpc/grpc-js';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import type { Fault } from '../../src/proxy/ops/fault.ts';
import { listenTls, type TlsListener } from '../../src/proxy/ops/listen-tls.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { connectFault } from '../../src/proxy/ops/tls-errors.ts';
import { loadClientTls, loadServerTls } from '../../src/proxy/ops/tls-files.ts';
import { expired, type Pair, Pki } from '../peers/pki.ts';

const labels = { cert: '--agent-cert', key: '--agent-key', ca: '--ca-cert' };
const method = '/Test/Echo';
const pki = new Pki();
let ca: Pair;
let otherCa: Pair;
let client: Pair;

before(async () => {
  ca = await pki.authority('test CA');
  otherCa = await pki.authority('other CA');
  client = await pki.client(ca);
});
after(() => pki.remove());

const same = (bytes: Buffer): Buffer => bytes;

/** A gRPC server behind a TLS listener of ours, as `serve` has it. `sni` is what the last client asked for. */
async function grpcServer(pair: Pair, caFile = '') {
  const grpc = new Server();
  const definition = { path: method, requestStream: false, responseStream: false } as const;
  const coding = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  grpc.addService(
    { echo: { ...definition, ...coding } },
    {
      echo: (call: { request: Buffer }, answer: (error: null, reply: Buffer) => void) =>
        answer(null, call.request),
    },
  );
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const seen: { sni: unknown } = { sni: undefined };
  const listener = await listenTls({
    host: '127.0.0.1',
    port: 0,
    label: '--agent-port',
    log: silentLog,
    tls: loadServerTls({ certFile: pair.certFile, keyFile: pair.keyFile, caFile, labels }),
    alpn: ['h2'],
    onConnection: (socket) => {
      seen.sni = socket.servername;
      injector.injectConnection(socket);
    },
    onHandshakeError: () => {},
  });
  const stop = async (): Promise<void> => {
    grpc.forceShutdown();
    await listener.close();
  };
  return { listener, seen, stop };
}

async function call(target: string, credentials: ChannelCredentials): Promise<string> {
  const grpc = new Client(target, credentials, { 'grpc.use_local_subchannel_pool': 1 });
  try {
    return await new Promise((resolve, reject) => {
      grpc.makeUnaryRequest(
        method,
        same,
        same,
        Buffer.from('hello'),
        (error: ServiceError | null, reply?: Buffer) =>
          error === null ? resolve(String(reply)) : reject(error),
      );
    });
  } finally {
    grpc.close();
  }
}

function trusting(authority: Pair, pair?: Pair) {
  const files = pair === undefined ? {} : { certFile: pair.certFile, keyFile: pair.keyFile };
  return loadClientTls({ caFile: authority.certFile, labels, ...files });
}

/** Why the call failed: from the text of grpc-js, and from the error that the credentials hand out. */
async function faultsOf(
  target: string,
  tls: ReturnType<typeof trusting>,
): Promise<{ text: Fault; hook: Fault }> {
  const errors: unknown[] = [];
  const credentials = channelCredentials(tls, { onError: (error) => errors.push(error) });
  const text = await call(target, credentials).then(
    () => assert.fail('the call went through'),
    (error: ServiceError) => connectFault(error.details, target),
  );
  return { text, hook: connectFault(errors[0], target) };
}

function targetOf(listener: TlsListener, host = '127.0.0.1'): string {
  return `${host}:${listener.port}`;
}

test('a server is reached by its IP without SNI', async () => {
  const server = await grpcServer(await pki.server(ca), ca.certFile);
  assert.equal(await call(targetOf(server.listener), channelCredentials(trusting(ca, client))), 'hello');
  assert.equal(server.seen.sni, false);
  await server.stop();
});

test('a server is reached by its name with SNI', async () => {
  const server = await grpcServer(await pki.server(ca));
  assert.equal(await call(targetOf(server.listener, 'localhost'), channelCredentials(trusting(ca))), 'hello');
  assert.equal(server.seen.sni, 'localhost');
  await server.stop();
});

test('another name than that of the target can be asked of the server', async () => {
  const server = await grpcServer(await pki.server(ca, { dns: ['konnectivity.example'], ips: [] }));
  const credentials = channelCredentials(trusting(ca), { serverName: 'konnectivity.example' });
  assert.equal(await call(targetOf(server.listener), credentials), 'hello');
  await server.stop();
});

test('files loaded anew are used by the next connection', async () => {
  const server = await grpcServer(await pki.server(ca));
  let tls = trusting(otherCa);
  const credentials = channelCredentials(() => tls);
  await assert.rejects(call(targetOf(server.listener), credentials));
  tls = trusting(ca);
  assert.equal(await call(targetOf(server.listener), credentials), 'hello');
  await server.stop();
});

test('an IP that the certificate does not have is refused with the names it has', async () => {
  const server = await grpcServer(await pki.server(ca, { dns: ['a.example'], ips: ['10.1.2.3'] }));
  for (const fault of Object.values(await faultsOf(targetOf(server.listener), trusting(ca)))) {
    assert.equal(fault.code, 'server-certificate-name');
    assert.match(fault.message, /10\.1\.2\.3/);
  }
  await server.stop();
});

test('a name that the certificate does not have is refused with the names it has', async () => {
  const server = await grpcServer(await pki.server(ca, { dns: ['a.example', 'b.example'], ips: [] }));
  for (const fault of Object.values(await faultsOf(targetOf(server.listener, 'localhost'), trusting(ca)))) {
    assert.equal(fault.code, 'server-certificate-name');
    assert.match(fault.message, /it is for DNS:a\.example, DNS:b\.example$/);
  }
  await server.stop();
});

test('an expired server certificate is refused', async () => {
  const server = await grpcServer(await pki.server(ca, expired));
  for (const fault of Object.values(await faultsOf(targetOf(server.listener), trusting(ca)))) {
    assert.equal(fault.code, 'server-certificate-expired');
  }
  await server.stop();
});

test('a server of another CA is refused', async () => {
  const server = await grpcServer(await pki.server(otherCa));
  for (const fault of Object.values(await faultsOf(targetOf(server.listener), trusting(ca)))) {
    assert.equal(fault.code, 'server-certificate-unknown-ca');
  }
  await server.stop();
});

test('a server that wants a client certificate is understood', async () => {
  const server = await grpcServer(await pki.server(ca), ca.certFile);
  for (const fault of Object.values(await faultsOf(targetOf(server.listener), trusting(ca)))) {
    assert.equal(fault.code, 'client-certificate-required');
  }
  await server.stop();
});

test('a server that does not speak TLS is understood', async () => {
  const plain = createServer((socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const target = `127.0.0.1:${(plain.address() as AddressInfo).port}`;
  for (const fault of Object.values(await faultsOf(target, trusting(ca))))
    assert.equal(fault.code, 'not-tls');
  plain.close();
});

test('a port on which nobody listens is named', async () => {
  const plain = createServer();
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const target = `127.0.0.1:${(plain.address() as AddressInfo).port}`;
  plain.close();
  await once(plain, 'close');
  const { text } = await faultsOf(target, trusting(ca));
  assert.equal(text.code, 'connection-refused');
  assert.ok(text.message.includes(target));
});

test('a server that never answers the handshake is given up', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}).resume());
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const target = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const credentials = channelCredentials(trusting(ca), { handshakeTimeoutMs: 30 });
  await assert.rejects(call(target, credentials), (error: ServiceError) => {
    assert.equal(connectFault(error.details, target).code, 'connection-timeout');
    return true;
  });
  silent.close();
});

test('a server that is silent after the handshake is given up', async () => {
  const pair = await pki.server(ca);
  const silent = await listenTls({
    host: '127.0.0.1',
    port: 0,
    label: 'x',
    log: silentLog,
    tls: loadServerTls({ certFile: pair.certFile, keyFile: pair.keyFile, labels }),
    alpn: ['h2'],
    onConnection: (socket) => socket.resume(),
    onHandshakeError: () => {},
  });
  const credentials = channelCredentials(trusting(ca), { handshakeTimeoutMs: 200 });
  await assert.rejects(call(targetOf(silent), credentials), (error: ServiceError) => {
    assert.equal(connectFault(error.details, 'x').code, 'connection-timeout');
    return true;
  });
  await silent.close();
});
