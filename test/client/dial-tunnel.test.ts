import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { type DialTunnelOptions, dialTunnel } from '../../src/proxy/client/dial-tunnel.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { deferred } from '../peers/deferred.ts';
import {
  type Destination,
  startDestination,
  startTunnel,
  type TestTunnel,
  unusedAddress,
} from '../peers/tunnel.ts';

const MIB = 1024 * 1024;
const faultOf =
  (code: string, text = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.line, text);
    return true;
  };

async function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function readBytes(stream: Duplex, count: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total < count) {
    const chunk: Buffer | null = stream.read();
    if (chunk === null) {
      await once(stream, 'readable');
      continue;
    }
    chunks.push(chunk);
    total += chunk.length;
  }
  return Buffer.concat(chunks);
}

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

for (const mode of ['http-connect', 'grpc'] as const) {
  describe(`a tunnel dialled by ${mode}`, () => {
    let tunnels: TestTunnel;
    const destinations: Destination[] = [];
    const destination = async (onConnection: (socket: Socket) => void): Promise<string> => {
      const started = await startDestination(onConnection);
      destinations.push(started);
      return started.address;
    };
    const dial = (address: string, more: Partial<DialTunnelOptions> = {}): Promise<Duplex> =>
      dialTunnel({
        server: tunnels.frontend(mode),
        mode,
        address,
        signal: new AbortController().signal,
        timeoutMs: 20_000,
        ...more,
      });

    before(async () => {
      tunnels = await startTunnel();
    });
    after(async () => {
      for (const one of destinations) one.close();
      await tunnels.close();
    });

    it('carries bytes both ways', async () => {
      const tunnel = await dial(await destination((socket) => socket.pipe(socket)));
      tunnel.write('hello');
      assert.equal((await readBytes(tunnel, 5)).toString(), 'hello');
      tunnel.destroy();
    });

    it('gives what the destination sent before its end', async () => {
      const tunnel = await dial(await destination((socket) => socket.end('goodbye')));
      assert.equal((await readAll(tunnel)).toString(), 'goodbye');
    });

    it('carries a large download byte by byte', async () => {
      const sent = randomBytes(16 * MIB);
      const tunnel = await dial(await destination((socket) => socket.end(sent)));
      assert.equal(sha(await readAll(tunnel)), sha(sent));
    });

    it('carries a large upload byte by byte', async () => {
      const sent = randomBytes(16 * MIB);
      const address = await destination((socket) => {
        const chunks: Buffer[] = [];
        let total = 0;
        socket.on('data', (chunk) => {
          chunks.push(chunk);
          total += chunk.length;
          if (total === sent.length) socket.end(sha(Buffer.concat(chunks)));
        });
      });
      const tunnel = await dial(address);
      tunnel.write(sent);
      assert.equal((await readAll(tunnel)).toString(), sha(sent));
    });

    it('stops a writer whose destination does not read', async () => {
      const accepted = deferred<Socket>();
      const tunnel = await dial(await destination((socket) => accepted.resolve(socket.pause())));
      const chunk = Buffer.alloc(MIB, 7);
      let sent = 0;
      while (tunnel.write(chunk)) sent += chunk.length;
      sent += chunk.length;
      // Far more than the window: only a reading destination lets it through.
      for (let i = 0; i < 40; i++, sent += chunk.length) tunnel.write(chunk);
      assert.ok(tunnel.writableLength > 0);
      const socket = await accepted.promise;
      let received = 0;
      socket.on('data', (bytes) => {
        received += bytes.length;
        if (received === sent) socket.end('all');
      });
      socket.resume();
      assert.equal((await readAll(tunnel)).toString(), 'all');
    });

    it('stops a destination whose reader does not read', async () => {
      const total = 64 * MIB;
      const accepted = deferred<Socket>();
      const tunnel = await dial(
        await destination((socket) => {
          socket.end(Buffer.alloc(total, 1));
          accepted.resolve(socket);
        }),
      );
      const socket = await accepted.promise;
      await once(tunnel, 'readable');
      assert.ok(socket.writableLength > 0);
      assert.ok(tunnel.readableLength < MIB, `${tunnel.readableLength} bytes are read ahead`);
      assert.equal((await readAll(tunnel)).length, total);
    });

    it('is refused with the reason when nothing listens at the destination', async () => {
      const address = await unusedAddress();
      await assert.rejects(dial(address), faultOf('dial-refused', /connection refused/));
    });

    it('is refused with the reason when there is no agent', async () => {
      const empty = await startTunnel({ agents: {} });
      await assert.rejects(
        dial('127.0.0.1:80', { server: empty.frontend(mode) }),
        faultOf('dial-refused', /No agent/),
      );
      await empty.close();
    });

    it('says that the server is not there', async () => {
      const path = join(tmpdir(), `kts-none-${randomBytes(6).toString('hex')}.sock`);
      await assert.rejects(
        dial('127.0.0.1:80', { server: { kind: 'unix', path } }),
        faultOf('socket-missing', /does not exist/),
      );
    });

    it('does not try a path that is too long for a socket', async () => {
      const path = `/tmp/${'x'.repeat(120)}`;
      await assert.rejects(
        dial('127.0.0.1:80', { server: { kind: 'unix', path } }),
        faultOf('socket-path-too-long'),
      );
    });

    it('says that a server is silent when the time is over', async () => {
      const path = join(tmpdir(), `kts-silent-${randomBytes(6).toString('hex')}.sock`);
      const silent = createServer().listen(path);
      await once(silent, 'listening');
      silent.on('connection', (socket) => socket.resume());
      await assert.rejects(
        dial('127.0.0.1:80', { server: { kind: 'unix', path }, timeoutMs: 50 }),
        (error) => error instanceof Fault && ['dial-timeout', 'connection-timeout'].includes(error.code),
      );
      silent.close();
    });

    it('is given up with the signal', async () => {
      const controller = new AbortController();
      const dialing = dial('127.0.0.1:80', {
        signal: controller.signal,
        onStep: ({ name }) => name === 'connecting' && controller.abort(),
      });
      await assert.rejects(dialing, faultOf('cancelled'));
    });

    it('says that the server speaks the other mode', async () => {
      const other = tunnels.frontend(mode === 'grpc' ? 'http-connect' : 'grpc');
      await assert.rejects(dial('127.0.0.1:80', { server: other }), faultOf('bad-answer', /mode/));
    });

    it('leaves nothing on the server when it is destroyed', async () => {
      const closed = deferred<void>();
      const tunnel = await dial(
        await destination((socket) =>
          socket
            .on('close', closed.resolve)
            .on('end', () => socket.end())
            .resume(),
        ),
      );
      tunnel.destroy();
      await closed.promise;
    });
  });
}
