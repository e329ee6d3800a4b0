import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { dialTunnel } from '../../src/proxy/client/dial-tunnel.ts';
import { isDialFault, tunnelLost } from '../../src/proxy/client/tunnel-faults.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { Pki } from '../peers/pki.ts';
import { type Destination, startDestination, startTunnel, type TestTunnel } from '../peers/tunnel.ts';

describe('the end of a gRPC tunnel', () => {
  let tunnels: TestTunnel;
  let echo: Destination;

  before(async () => {
    tunnels = await startTunnel();
    echo = await startDestination((socket) => socket.on('data', (chunk) => socket.write(chunk)));
  });
  after(async () => {
    echo.close();
    await tunnels.close();
  });

  it('is orderly after end(), which closes both directions', async () => {
    const tunnel = await tunnels.dial('grpc', echo.address);
    tunnel.resume();
    tunnel.end('last words');
    await once(tunnel, 'end');
  });

  it('is a fault when the agent is lost', async () => {
    const cut = await startTunnel();
    const tunnel = await cut.dial('grpc', echo.address);
    tunnel.resume();
    const failed = once(tunnel, 'error');
    await cut.agents.get('a')?.stop();
    const [error] = await failed;
    assert.ok(error instanceof Fault);
    assert.equal(error.code, 'tunnel-lost');
    await cut.close();
  });

  it('is a fault when the server is stopped', async () => {
    const cut = await startTunnel();
    const tunnel = await cut.dial('grpc', echo.address);
    tunnel.resume();
    const failed = once(tunnel, 'error');
    await cut.close();
    const [error] = await failed;
    assert.ok(error instanceof Fault && error.code === 'tunnel-lost', String(error));
  });

  it('is a fault when the destination resets the connection', async () => {
    const rude = await startDestination((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const tunnel = await tunnels.dial('grpc', rude.address);
    tunnel.resume();
    const failed = once(tunnel, 'error');
    tunnel.write('hello');
    const [error] = await failed;
    assert.ok(error instanceof Fault && error.code === 'tunnel-lost', String(error));
    rude.close();
  });
});

describe('faults of tunnels', () => {
  it('tell a failed dial from an unreached server', () => {
    assert.equal(isDialFault(new Fault('dial-refused', 'x')), true);
    assert.equal(isDialFault(new Fault('connection-refused', 'x')), false);
  });

  it('say what cut a socket', () => {
    const fault = tunnelLost(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }), 'db:5432');
    assert.equal(fault.line, 'the tunnel to db:5432 was cut (ECONNRESET)');
  });
});

describe('the end of a CONNECT tunnel over TLS', () => {
  it('is an error when the destination resets the connection', async () => {
    const pki = new Pki();
    const ca = await pki.authority('CA');
    const pair = await pki.issue(ca, { commonName: 'both', ips: ['127.0.0.1'] });
    const files = { certFile: pair.certFile, keyFile: pair.keyFile, caFile: ca.certFile };
    const tunnels = await startTunnel({
      server: {
        frontends: [
          { mode: 'http-connect', address: { kind: 'tls', host: '127.0.0.1', port: 0, tls: files } },
        ],
      },
    });
    const rude = await startDestination((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const labels = { cert: 'cert', key: 'key', ca: 'ca' };
    const tunnel = await dialTunnel({
      server: {
        kind: 'tls',
        host: '127.0.0.1',
        port: tunnels.server.server.frontendListeners[0]?.port ?? 0,
        tls: loadClientTls({ ...files, labels }),
      },
      mode: 'http-connect',
      address: rude.address,
      signal: new AbortController().signal,
      timeoutMs: 20_000,
    });
    tunnel.resume();
    const ended = Promise.race([
      once(tunnel, 'end').then(() => 'an orderly end'),
      once(tunnel, 'error').then(([error]) => error.code),
    ]).catch((error) => error.code);
    tunnel.write('hello');
    assert.equal(await ended, 'ECONNRESET');
    rude.close();
    await tunnels.close();
    pki.remove();
  });
});
