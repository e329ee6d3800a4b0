import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { dial } from '../../src/commands/dial.ts';
import type { DialFlags } from '../../src/commands/dial-flags.ts';
import type { CommandIo } from '../../src/commands/io.ts';
import {
  type Destination,
  startDestination,
  startTunnel,
  type TestTunnel,
  unusedAddress,
} from '../peers/tunnel.ts';

/** The io of a command in a test's hand. */
class TestIo implements CommandIo {
  readonly stdin = new PassThrough();
  readonly stdout: NodeJS.WritableStream = new PassThrough();
  readonly stderr = new PassThrough();
  readonly env = {};
  readonly interrupt = new AbortController();
  readonly interrupted = this.interrupt.signal;
  readonly killed = new AbortController().signal;

  constructor(stdout?: NodeJS.WritableStream) {
    if (stdout !== undefined) this.stdout = stdout;
  }

  get said(): string {
    return String(this.stderr.read() ?? '');
  }

  get out(): Buffer {
    return ((this.stdout as PassThrough).read() as Buffer | null) ?? Buffer.alloc(0);
  }
}

describe('dial', () => {
  let tunnels: TestTunnel;
  const destinations: Destination[] = [];
  const destination = async (...args: Parameters<typeof startDestination>): Promise<string> => {
    const started = await startDestination(...args);
    destinations.push(started);
    return started.address;
  };
  const flags = (more: Partial<DialFlags> = {}): DialFlags => ({
    server: tunnels.server.connectPath,
    mode: 'http-connect',
    timeout: '20s',
    ...more,
  });

  before(async () => {
    tunnels = await startTunnel();
  });
  after(async () => {
    for (const one of destinations) one.close();
    await tunnels.close();
  });

  for (const mode of ['http-connect', 'grpc'] as const) {
    const by = (): DialFlags =>
      flags({ mode, server: mode === 'grpc' ? tunnels.server.grpcPath : tunnels.server.connectPath });

    it(`by ${mode} sends stdin, and waits for the answer behind its end`, async () => {
      const address = await destination((socket) =>
        socket.once('data', (chunk) => socket.end(Buffer.concat([Buffer.from([0, 255]), chunk]))),
      );
      const io = new TestIo();
      io.stdin.end('ask');
      assert.equal(await dial(address, by(), io), 0);
      assert.deepEqual(io.out, Buffer.from([0, 255, ...Buffer.from('ask')]));
      assert.equal(io.said, '');
    });

    it(`by ${mode} fails with 1 when the dial is refused`, async () => {
      const io = new TestIo();
      assert.equal(await dial(await unusedAddress(), by(), io), 1);
      assert.match(io.said, /^konnectivity-ts: .*connection refused\n$/);
    });

    it(`by ${mode} fails with 5 when the server is not there`, async () => {
      const io = new TestIo();
      assert.equal(await dial('127.0.0.1:80', { ...by(), server: '/nowhere/there.sock' }, io), 5);
      assert.match(io.said, /^konnectivity-ts: \/nowhere\/there\.sock does not exist;.*\n$/);
    });

    it(`by ${mode} ends with 130 when it is interrupted`, async () => {
      const io = new TestIo();
      const accepted = destination(() => io.interrupt.abort());
      assert.equal(await dial(await accepted, by(), io), 130);
    });
  }

  it('fails with 1 and says so when a gRPC tunnel is cut', async () => {
    const cut = await startTunnel();
    const io = new TestIo();
    io.stdin.write('ask');
    const address = await destination((socket) => socket.on('data', () => void cut.agents.get('a')?.stop()));
    assert.equal(await dial(address, flags({ mode: 'grpc', server: cut.server.grpcPath }), io), 1);
    assert.match(io.said, /^konnectivity-ts: the tunnel to .* was cut \(.*\)\n$/);
    await cut.close();
  });

  it('with --shutdown passes the end of stdin on', async () => {
    const ended = new Promise<void>((resolve) => {
      void destination((socket) => socket.resume().on('end', resolve)).then(async (address) => {
        const io = new TestIo();
        io.stdin.end('ask');
        await dial(address, flags({ shutdown: true }), io);
      });
    });
    await ended;
  });

  it('with --verbose tells each step with its time', async () => {
    const io = new TestIo();
    const address = await destination((socket) => socket.end('hello'));
    assert.equal(await dial(address, flags({ verbose: true }), io), 0);
    const steps = io.said.trimEnd().split('\n');
    for (const step of steps) assert.match(step, /^ +\d+\.\d ms {2}\S/);
    assert.deepEqual(
      steps.map((step) => step.slice(14).split(' ')[0]),
      ['connecting', 'connected', 'sent', 'answer:', 'first', 'ended'],
    );
    assert.match(steps.at(-1) ?? '', /0 bytes sent, 5 received/);
  });

  it('reads no faster than stdout takes', async () => {
    const total = 32 * 1024 * 1024;
    const address = await destination((socket) => socket.end(Buffer.alloc(total)));
    let taken = 0;
    let most = 0;
    const stdout: Writable = new Writable({
      highWaterMark: 16 * 1024,
      write(chunk: Buffer, _encoding, done) {
        taken += chunk.length;
        most = Math.max(most, stdout.writableLength);
        setImmediate(done);
      },
    });
    assert.equal(await dial(address, flags(), new TestIo(stdout)), 0);
    assert.equal(taken, total);
    assert.ok(most < 1024 * 1024, `${most} bytes waited`);
  });

  it('ends quietly when nobody reads its output', async () => {
    const address = await destination((socket) => {
      const more = (): void => {
        while (socket.write(Buffer.alloc(64 * 1024)));
      };
      socket.on('drain', more);
      more();
    });
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', 'src/main.ts', 'dial', address, '--server', tunnels.server.connectPath],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += String(chunk);
    });
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = await once(child, 'close');
    assert.deepEqual([code, said], [0, '']);
  });

  for (const [what, address, more, words] of [
    ['a destination without a port', 'host', {}, /"host" is no destination: missing port/],
    ['an unknown mode', 'host:1', { mode: 'udp' }, /--mode udp is unknown; give grpc or http-connect/],
    ['a time without a unit', 'host:1', { timeout: '5' }, /--timeout 5 has no unit/],
    ['no time', 'host:1', { timeout: '0' }, /--timeout 0 leaves no time/],
    ['a server port that is none', 'host:1', { server: 'a:70000' }, /--server a:70000 has no valid port/],
    ['TLS without a CA', 'host:1', { server: 'a:8090' }, /--ca-cert is missing/],
    [
      'a CA that is not there',
      'host:1',
      { server: 'a:8090', caCert: '/none' },
      /--ca-cert \/none does not exist/,
    ],
    ['TLS files for a Unix socket', 'host:1', { caCert: '/none' }, /has no TLS/],
    ['a half-close by gRPC', 'host:1', { mode: 'grpc', shutdown: true }, /has no half-close/],
    ['a path that is too long', 'host:1', { server: `/${'x'.repeat(120)}` }, /has room for 107/],
  ] as const) {
    it(`refuses ${what} with 2 and one line`, async () => {
      const io = new TestIo();
      assert.equal(await dial(address, flags(more), io), 2);
      const said = io.said;
      assert.match(said, words);
      assert.match(said, /^konnectivity-ts: [^\n]*\n$/);
    });
  }
});
