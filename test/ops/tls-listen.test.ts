import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, before, test } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { Fault } from '../../src/proxy/ops/fault.ts';
import { listenTls, type TlsListener, type TlsListenerOptions } from '../../src/proxy/ops/listen-tls.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { connectFault } from '../../src/proxy/ops/tls-errors.ts';
import { loadServerTls } from '../../src/proxy/ops/tls-files.ts';
import { deferred } from '../peers/deferred.ts';
import { expired, notYetValid, type Pair, Pki } from '../peers/pki.ts';

const labels = { cert: '--cluster-cert', key: '--cluster-key', ca: '--cluster-ca-cert' };
const pki = new Pki();
let ca: Pair;
let otherCa: Pair;
let server: Pair;
let client: Pair;

before(async () => {
  ca = await pki.authority('test CA');
  otherCa = await pki.authority('other CA');
  server = await pki.server(ca);
  client = await pki.client(ca);
});
after(() => pki.remove());

function tlsOf(pair: Pair, caFile = '') {
  return loadServerTls({ certFile: pair.certFile, keyFile: pair.keyFile, caFile, labels });
}

interface Seen {
  readonly listener: TlsListener;
  readonly accepted: Promise<TLSSocket>;
  readonly refused: Promise<{ remote: string; fault: Fault }>;
}

async function listening(pair: Pair, caFile = '', more: Partial<TlsListenerOptions> = {}): Promise<Seen> {
  const accepted = deferred<TLSSocket>();
  const refused = deferred<{ remote: string; fault: Fault }>();
  const listener = await listenTls({
    host: '127.0.0.1',
    port: 0,
    label: '--agent-port',
    log: silentLog,
    tls: tlsOf(pair, caFile),
    onConnection: accepted.resolve,
    onHandshakeError: (remote, fault) => refused.resolve({ remote, fault }),
    ...more,
  });
  return { listener, accepted: accepted.promise, refused: refused.promise };
}

/** Connects and resolves with the error that ends the connection, also one that comes after the handshake. */
async function failingClient(port: number, options: ConnectionOptions = {}): Promise<Error> {
  const socket = connect({ host: '127.0.0.1', port, ca: ca.cert, ...options });
  const failure = deferred<Error>();
  socket.on('error', failure.resolve);
  socket.on('close', () => failure.resolve(new Error('Connection closed')));
  socket.resume();
  return await failure.promise;
}

test('a client with the right certificate is handed over with its socket working both ways', async () => {
  const seen = await listening(server, ca.certFile, { alpn: ['h2'] });
  const options = { ca: ca.cert, cert: client.cert, key: client.key, ALPNProtocols: ['h2'] };
  const socket = connect({ host: '127.0.0.1', port: seen.listener.port, ...options });
  const accepted = await seen.accepted;
  assert.equal(accepted.alpnProtocol, 'h2');
  assert.equal(accepted.getPeerCertificate().subject.CN, 'client');
  accepted.once('data', (chunk) => accepted.end(chunk));
  socket.write('hello');
  const [answer] = await once(socket, 'data');
  assert.equal(String(answer), 'hello');
  socket.destroy();
  await seen.listener.close();
});

test('the end of one side leaves the other side open', async () => {
  const seen = await listening(server);
  const socket = connect({
    host: '127.0.0.1',
    port: seen.listener.port,
    ca: ca.cert,
    allowHalfOpen: true,
  } as object);
  const accepted = await seen.accepted;
  accepted.resume();
  socket.end();
  await once(accepted, 'end');
  accepted.write('still here');
  const [answer] = await once(socket, 'data');
  assert.equal(String(answer), 'still here');
  accepted.destroy();
  await once(socket, 'close');
  await seen.listener.close();
});

const refusedByUs: readonly [string, () => Promise<ConnectionOptions>, string][] = [
  ['without a certificate', async () => ({}), 'client-certificate-required'],
  ['with an expired certificate', async () => pki.client(ca, expired), 'client-certificate-expired'],
  [
    'with a certificate from the future',
    async () => pki.client(ca, notYetValid),
    'client-certificate-not-yet-valid',
  ],
  ['with a certificate of another CA', async () => pki.client(otherCa), 'client-certificate-unknown-ca'],
  ['with a certificate made for servers', async () => pki.server(ca), 'client-certificate-purpose'],
  [
    'of TLS 1.1 at most',
    async () => ({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }),
    'tls-version',
  ],
  ['of RSA ciphers alone', async () => ({ maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' }), 'tls-cipher'],
  ['that offers http/1.1', async () => ({ ALPNProtocols: ['http/1.1'] }), 'tls-alpn'],
];
for (const [who, options, code] of refusedByUs) {
  test(`a client ${who} is refused, and both sides know`, async () => {
    const seen = await listening(server, ca.certFile, { alpn: ['h2'] });
    const error = await failingClient(seen.listener.port, { ALPNProtocols: ['h2'], ...(await options()) });
    const { remote, fault } = await seen.refused;
    assert.equal(fault.code, code);
    assert.match(remote, /^127\.0\.0\.1:\d+$/);
    // Node closes without an alert when it refuses a certificate: a client cannot know more than that.
    const alerted = ['client-certificate-required', 'tls-version', 'tls-cipher', 'tls-alpn'].includes(code);
    assert.equal(connectFault(error, 'server').code, alerted ? code : 'connection-reset');
    await seen.listener.close();
  });
}

test('a client without ALPN is refused where a protocol is needed', async () => {
  const seen = await listening(server, '', { alpn: ['h2'] });
  await failingClient(seen.listener.port);
  assert.equal((await seen.refused).fault.code, 'no-alpn');
  await seen.listener.close();
});

for (const [what, bytes] of [
  ['plain HTTP', 'GET / HTTP/1.1\r\n\r\n'],
  ['an HTTP proxy request', 'CONNECT a:1 HTTP/1.1\r\n\r\n'],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['garbage', '\x00\xff\x00\xffgarbage-garbage-garbage'],
] as const) {
  test(`${what} on a TLS port is refused as not TLS`, async () => {
    const seen = await listening(server);
    const socket = connectTcp({ host: '127.0.0.1', port: seen.listener.port });
    socket.on('error', () => {});
    socket.resume();
    socket.write(bytes, 'latin1');
    assert.equal((await seen.refused).fault.code, 'not-tls');
    await once(socket, 'close');
    await seen.listener.close();
  });
}

test('a client that says nothing is cut off after the handshake time-out', async () => {
  const seen = await listening(server, '', { handshakeTimeoutMs: 30 });
  const socket = connectTcp({ host: '127.0.0.1', port: seen.listener.port });
  socket.on('error', () => {});
  socket.resume();
  assert.equal((await seen.refused).fault.code, 'handshake-timeout');
  await once(socket, 'close');
  await seen.listener.close();
});

test('a client that hangs up in the handshake is named by its address', async () => {
  const seen = await listening(server);
  const socket = connectTcp({ host: '127.0.0.1', port: seen.listener.port });
  await once(socket, 'connect');
  const port = socket.localPort;
  socket.destroy();
  const { remote, fault } = await seen.refused;
  assert.equal(fault.code, 'connection-reset');
  assert.equal(remote, `127.0.0.1:${port}`);
  await seen.listener.close();
});

test('a client that does not know our CA tells us so', async () => {
  const seen = await listening(server);
  const error = await failingClient(seen.listener.port, { ca: otherCa.cert });
  assert.equal(connectFault(error, 'server').code, 'server-certificate-unknown-ca');
  // OpenSSL verifies only after its part of the handshake is done, and Node then closes without an alert.
  const accepted = await Promise.race([seen.accepted, seen.refused]);
  if ('destroy' in accepted) accepted.destroy();
  await seen.listener.close();
});

test('the other end knows why we refuse an expired server certificate', async () => {
  const seen = await listening(await pki.server(ca, expired));
  const fault = connectFault(await failingClient(seen.listener.port), '127.0.0.1:8091');
  assert.equal(fault.code, 'server-certificate-expired');
  assert.match(fault.message, /127\.0\.0\.1:8091/);
  await seen.listener.close();
});

test('a name mismatch says which names the certificate has', async () => {
  const seen = await listening(await pki.server(ca, { dns: ['konnectivity.example'], ips: ['10.1.2.3'] }));
  const fault = connectFault(await failingClient(seen.listener.port), '127.0.0.1:8091');
  assert.equal(fault.code, 'server-certificate-name');
  assert.match(fault.message, /DNS:konnectivity\.example, IP Address:10\.1\.2\.3/);
  await seen.listener.close();
});

test('new files serve new handshakes while an open connection lives on', async () => {
  const seen = await listening(server);
  const first = connect({ host: '127.0.0.1', port: seen.listener.port, ca: ca.cert });
  const accepted = await seen.accepted;
  seen.listener.setSecureContext(tlsOf(await pki.server(otherCa)));
  const second = connect({ host: '127.0.0.1', port: seen.listener.port, ca: otherCa.cert });
  await once(second, 'secureConnect');
  accepted.write('alive');
  const [data] = await once(first, 'data');
  assert.equal(String(data), 'alive');
  for (const socket of [first, second]) socket.destroy();
  await seen.listener.close();
});

test('closing cuts handshakes that are under way and says nothing about them', async () => {
  const listener = await listenTls({
    host: '127.0.0.1',
    port: 0,
    label: '--agent-port',
    log: silentLog,
    tls: tlsOf(server),
    onConnection: () => assert.fail('handed over after close'),
    onHandshakeError: (_, fault) => assert.fail(fault.message),
  });
  const silent = connectTcp({ host: '127.0.0.1', port: listener.port });
  silent.on('error', () => {});
  await once(silent, 'connect');
  await new Promise((resolve) => setImmediate(resolve));
  await listener.close();
  await once(silent.resume(), 'close');
});
