import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { CommandIo } from '../../src/commands/io.ts';
import { serve } from '../../src/commands/serve.ts';
import { Pki } from '../peers/pki.ts';

const io: CommandIo = {
  stdin: new PassThrough(),
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  env: {},
  interrupted: new AbortController().signal,
  killed: new AbortController().signal,
};

/** Listens on a port that serve's flags take (1024 to 49151). */
async function listenLow(taken: Server[]): Promise<number> {
  for (let port = 24_000 + (process.pid % 1000) * 10; ; port++) {
    const server = createServer();
    const bound = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port);
    if (!(await bound)) continue;
    taken.push(server);
    return (server.address() as AddressInfo).port;
  }
}

describe('serve that finds a port in use', () => {
  let pki: Pki;
  const taken: Server[] = [];

  beforeEach(() => {
    pki = new Pki();
  });
  afterEach(async () => {
    for (const server of taken.splice(0)) server.close();
    pki.remove();
  });

  for (const [index, flag] of (['agent-port', 'health-port', 'admin-port'] as const).entries()) {
    it(`leaves nothing open when it is --${flag}`, async () => {
      const pair = await pki.server(await pki.authority('CA'));
      const ports = [await listenLow(taken), await listenLow(taken), await listenLow(taken)];
      // The two others are free again.
      for (const [other, server] of taken.entries()) if (other !== index) await close(server);
      const socket = join(pki.directory, 'k.sock');
      const started = serve(
        [
          '--mode=http-connect',
          `--uds-name=${socket}`,
          '--server-port=0',
          `--agent-port=${ports[0]}`,
          `--health-port=${ports[1]}`,
          `--admin-port=${ports[2]}`,
          '--admin-bind-address=',
          `--cluster-cert=${pair.certFile}`,
          `--cluster-key=${pair.keyFile}`,
        ],
        io,
      );
      await assert.rejects(started, { code: 'port-in-use', message: new RegExp(`^--${flag}: `) });
      assert.equal(existsSync(socket), false);
      for (const [other, port] of ports.entries()) if (other !== index) await listensAgain(port, taken);
    });
  }
});

async function listensAgain(port: number, taken: Server[]): Promise<void> {
  const server = createServer().listen(port);
  taken.push(server);
  await once(server, 'listening');
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
