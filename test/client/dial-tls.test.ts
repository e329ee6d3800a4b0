import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { dialTunnel } from '../../src/proxy/client/dial-tunnel.ts';
import type { TunnelServer } from '../../src/proxy/client/tunnel-server.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { expired, type Pair, Pki } from '../peers/pki.ts';
import { type Destination, startDestination, startTunnel, type TestTunnel } from '../peers/tunnel.ts';

const MODES = ['http-connect', 'grpc'] as const;

describe('a dial over TLS', () => {
  const pki = new Pki();
  let tunnels: TestTunnel;
  let hello: Destination;
  let ca: Pair;
  let otherCa: Pair;

  before(async () => {
    ca = await pki.authority('frontend CA');
    otherCa = await pki.authority('another CA');
    const leaf = await pki.server(ca);
    const tls = { certFile: leaf.certFile, keyFile: leaf.keyFile, caFile: ca.certFile };
    tunnels = await startTunnel({
      server: {
        frontends: MODES.map((mode) => ({ mode, address: { kind: 'tls', host: '127.0.0.1', port: 0, tls } })),
      },
    });
    hello = await startDestination((socket) => socket.end('hello'));
  });
  after(async () => {
    hello.close();
    await tunnels.close();
    pki.remove();
  });

  for (const mode of MODES) {
    const serverWith = (client: Pair | undefined, trusted: Pair, host = '127.0.0.1'): TunnelServer => ({
      kind: 'tls',
      host,
      port: tunnels.server.server.frontendListeners[MODES.indexOf(mode)]?.port ?? 0,
      tls: loadClientTls({
        caFile: trusted.certFile,
        ...(client === undefined ? {} : { certFile: client.certFile, keyFile: client.keyFile }),
        labels: { cert: 'cert', key: 'key', ca: 'ca' },
      }),
    });
    const steps: string[] = [];
    const dial = (server: TunnelServer) =>
      dialTunnel({
        server,
        mode,
        address: hello.address,
        signal: new AbortController().signal,
        timeoutMs: 20_000,
        onStep: ({ name, text }) => steps.push(`${name}: ${text}`),
      });
    const refused = async (server: TunnelServer, ...codes: string[]): Promise<void> => {
      await assert.rejects(dial(server), (error) => {
        assert.ok(error instanceof Fault, String(error));
        assert.ok(codes.includes(error.code), `${error.code}: ${error.line}`);
        return true;
      });
    };

    it(`by ${mode} gets through with a client certificate, and tells of it`, async () => {
      steps.length = 0;
      const tunnel = await dial(serverWith(await pki.client(ca), ca));
      let text = '';
      for await (const chunk of tunnel) text += String(chunk);
      assert.equal(text, 'hello');
      assert.match(steps.find((step) => step.startsWith('secured')) ?? '', /TLSv1\.3.*127\.0\.0\.1/);
    });

    it(`by ${mode} says that a client certificate is wanted`, () =>
      refused(serverWith(undefined, ca), 'client-certificate-required', 'connection-reset'));

    it(`by ${mode} says that the server refuses a client certificate of another CA`, async () =>
      refused(
        serverWith(await pki.client(otherCa), ca),
        'client-certificate-unknown-ca',
        'connection-reset',
      ));

    it(`by ${mode} says that the server refuses an expired client certificate`, async () =>
      refused(
        serverWith(await pki.client(ca, expired), ca),
        'client-certificate-expired',
        'connection-reset',
      ));

    it(`by ${mode} refuses a server of another CA`, async () =>
      refused(serverWith(await pki.client(ca), otherCa), 'server-certificate-unknown-ca'));

    it(`by ${mode} refuses a server with another name`, async () =>
      refused(
        serverWith(await pki.client(ca), ca, '127.0.0.2'),
        'server-certificate-name',
        'connection-refused',
      ));

    it(`by ${mode} says that nothing listens`, async () => {
      const server = serverWith(await pki.client(ca), ca);
      await refused({ ...server, port: 1 } as TunnelServer, 'connection-refused');
    });
  }
});
