import assert from 'node:assert/strict';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Client, credentials, status as grpcStatus, type ServiceError } from '@grpc/grpc-js';
import { methodCodec } from '../../src/proxy/admin/messages/methods.ts';
import { AgentsBoard } from '../../src/proxy/admin/service/agents-board.ts';
import { Sampler } from '../../src/proxy/admin/service/sampler.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { defaultDrainBounds } from '../../src/proxy/server/drain/drain-bounds.ts';
import { AdminCase } from '../peers/admin-case.ts';
import { sampleEvent } from '../peers/admin-samples.ts';
import { AdminServer } from '../peers/admin-server.ts';
import { deferred } from '../peers/deferred.ts';
import { until } from '../peers/sockets-left.ts';

const never = new AbortController().signal;
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function start(options: Parameters<typeof AdminCase.start>[0] = {}): Promise<AdminCase> {
  const admin = await AdminCase.start(options);
  opened.push(admin);
  return admin;
}

const socketOf = (address: string): string => address.replace('unix://', '');

/** Calls with whatever bytes. */
function raw(address: string): Client {
  const client = new Client(`unix:${socketOf(address)}`, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
  });
  opened.push(client);
  return client;
}

function failure(client: Client, method: string, bytes: Buffer): Promise<ServiceError> {
  return new Promise((resolve, reject) => {
    const same = (one: Buffer): Buffer => one;
    client.makeUnaryRequest(`/konnectivity.admin.v1.Admin/${method}`, same, same, bytes, (error) =>
      error === null ? reject(new Error('it was answered')) : resolve(error),
    );
  });
}

/** HTTP/2 without gRPC. */
async function http2(address: string): Promise<{ session: ClientHttp2Session; socket: Socket }> {
  const socket = connect({ path: socketOf(address) });
  const session = connectHttp2('http://localhost', { createConnection: () => socket });
  session.on('error', () => {});
  opened.push({ close: () => session.destroy() });
  await new Promise((resolve) => session.once('connect', resolve));
  return { session, socket };
}

function ask(session: ClientHttp2Session, method: string, message: Buffer, headers: object = {}) {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/konnectivity.admin.v1.Admin/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  stream.on('error', () => {});
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  if ('grpc-encoding' in headers) head[0] = 1;
  stream.end(Buffer.concat([head, message]));
  return stream;
}

const watchRequest = (more: object = {}): Buffer =>
  methodCodec('WatchAgents').encodeRequest({ intervalSeconds: 0.1, ratesFor: [], ...more });

describe('bytes that are no request', () => {
  const bad: Record<string, Buffer> = {
    'that is cut off': Buffer.from([10, 200, 1, 65]),
    'with field number 0': Buffer.from([0, 1]),
    'with a group': Buffer.from([11, 12]),
    'with an endless number': Buffer.alloc(64, 255),
  };
  for (const [what, bytes] of Object.entries(bad)) {
    it(`are the client's fault: a message ${what}`, async () => {
      const admin = await start();
      const error = await failure(raw(admin.address), 'GetAgent', bytes);
      assert.equal(error.code, grpcStatus.INVALID_ARGUMENT, error.message);
      assert.deepEqual(admin.lines.all, []);
    });
  }

  it('are refused when they are too many, also when they were packed', async () => {
    const admin = await start();
    const bytes = Buffer.alloc(2 * 1024 * 1024);
    assert.equal((await failure(raw(admin.address), 'Drain', bytes)).code, grpcStatus.RESOURCE_EXHAUSTED);
    const { session } = await http2(admin.address);
    const stream = ask(session, 'Drain', gzipSync(Buffer.alloc(200_000_000)), { 'grpc-encoding': 'gzip' });
    const code = await new Promise((resolve) => {
      const take = (headers: object): void =>
        'grpc-status' in headers ? resolve(headers['grpc-status']) : undefined;
      stream.once('response', take).once('trailers', take).resume();
    });
    assert.equal(Number(code), grpcStatus.RESOURCE_EXHAUSTED);
    assert.equal((await admin.client.server(never)).id, 'server-1');
  });

  it('of a frame that never ends cost nobody else', async () => {
    const admin = await start();
    for (let i = 0; i < 50; i++) {
      const socket = connect({ path: socketOf(admin.address) });
      socket.on('error', () => {});
      opened.push({ close: () => socket.destroy() });
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      socket.write(Buffer.from([0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 1]));
    }
    assert.equal((await admin.client.server(never)).id, 'server-1');
  });
});

describe('texts of a request', () => {
  const long = 'x'.repeat(200_000);

  it('that name unknown agents at length are refused with an answer that arrives', async () => {
    const admin = await start();
    const agentIds = Array.from({ length: 900 }, (_, i) => `${i}${'\u20ac'.repeat(300)}`);
    await assert.rejects(admin.client.drain({ agentIds }, never), (error) => {
      assert.ok(error instanceof Fault);
      assert.equal(error.code, 'admin-not-found', error.line);
      return true;
    });
  });

  it('that are too long for an actor change nothing, and are not kept', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    for (const call of [
      admin.client.drain({ agentIds: ['a'], actor: long, force: true }, never),
      admin.client.undrain({ agentIds: ['a'], actor: long }, never),
      admin.client.closeTunnel({ id: 'b', actor: long }, never),
    ]) {
      await assert.rejects(call, (error) => error instanceof Fault && /200000 bytes long/.test(error.line));
    }
    const events = [...admin.peers.server.events.newestFirst()];
    assert.ok(events.every(({ type }) => !type.startsWith('order-')));
    assert.ok(admin.lines.all.every((line) => line.length < 4_000));
  });
});

describe('a change', () => {
  it('is answered when it is in the state directory, and not before', async () => {
    const { disk, syncing, go } = slowDisk();
    const admin = await start({ server: { stateDirectory: '/state', drain: { disk } } });
    await admin.peers.agent('a');
    syncing.wanted = true;
    let answered = false;
    const draining = admin.client.drain({ agentIds: ['a'], force: true }, never).then((results) => {
      answered = true;
      return results;
    });
    await syncing.begun;
    // A whole round trip later there is still no answer.
    assert.equal((await admin.client.orders(never)).length, 1);
    assert.equal(answered, false);
    go();
    assert.doesNotMatch((await draining)[0]?.notes.join() ?? '', /state directory/);
  });

  it('that the disk takes too long for is answered with a note', async () => {
    const { disk, syncing, go } = slowDisk();
    const bounds = { ...defaultDrainBounds, durableMs: 1 };
    const admin = await start({ server: { stateDirectory: '/state', drain: { disk, bounds } } });
    await admin.peers.agent('a');
    syncing.wanted = true;
    const [result] = await admin.client.drain({ agentIds: ['a'], force: true }, never);
    assert.match(result?.notes.join() ?? '', /its disk is slow/);
    go();
  });
});

/** A disk that keeps nothing, and that waits in sync() once it is wanted. */
function slowDisk() {
  const begun = deferred<void>();
  const gate = deferred<void>();
  const syncing = { wanted: false, begun: begun.promise };
  const file = {
    write: async () => {},
    sync: async () => {
      if (!syncing.wanted) return;
      begun.resolve();
      await gate.promise;
    },
    close: async () => {},
  };
  const missing = Object.assign(new Error('none'), { code: 'ENOENT' });
  return {
    syncing,
    go: () => gate.resolve(),
    disk: {
      mkdir: async () => {},
      readFile: () => Promise.reject(missing),
      open: async () => file,
      rename: async () => {},
    },
  };
}

describe('a watcher', () => {
  it('that does not read has one message made for it beyond what HTTP/2 takes', async () => {
    let made = 0;
    const ended = deferred<void>();
    const admin = await AdminServer.start({
      WatchEvents: async function* (_, { signal }) {
        signal.addEventListener('abort', () => ended.resolve());
        for (;;) {
          made++;
          yield sampleEvent({ message: 'x'.repeat(256 * 1024) });
        }
      },
      ListOrders: () => ({ orders: [], nextPageToken: '' }),
    });
    opened.push(admin);
    const { session, socket } = await http2(admin.address);
    ask(session, 'WatchEvents', methodCodec('WatchEvents').encodeRequest({ follow: true }));
    await until(() => made > 0, 'the first message');
    const other = raw(admin.address);
    const empty = Buffer.alloc(0);
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) =>
        other.makeUnaryRequest(
          '/konnectivity.admin.v1.Admin/ListOrders',
          (one: Buffer) => one,
          (one) => one,
          empty,
          resolve,
        ),
      );
    }
    assert.equal(made, 1);
    socket.destroy();
    await ended.promise;
  });

  it('of many is left at once when its connection breaks, in whatever state it is', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    const sockets: Socket[] = [];
    for (let i = 0; i < 20; i++) {
      const { session, socket } = await http2(admin.address);
      sockets.push(socket);
      for (const message of [watchRequest(), watchRequest({ intervalSeconds: 60, ratesFor: ['a'] })]) {
        const stream = ask(session, 'WatchAgents', message);
        // Half of them read.
        if (i % 2 === 0) stream.resume();
      }
    }
    await until(() => admin.service.watchers === 40, 'all watchers');
    for (const socket of sockets) socket.destroy();
    await until(() => admin.service.watchers === 0, 'no watcher');
    await until(() => admin.service.connections <= 1, 'no connection');
  });

  it('that gave a deadline is ended by it', async () => {
    const admin = await start();
    const client = raw(admin.address);
    const call = client.makeServerStreamRequest(
      '/konnectivity.admin.v1.Admin/WatchAgents',
      (one: Buffer) => one,
      (one: Buffer) => one,
      watchRequest({ intervalSeconds: 60 }),
      { deadline: Date.now() + 300 },
    );
    const code = new Promise((resolve) => call.once('error', (error: ServiceError) => resolve(error.code)));
    call.resume();
    assert.equal(await code, grpcStatus.DEADLINE_EXCEEDED);
    await until(() => admin.service.watchers === 0, 'no watcher');
  });

  it('shares what is made for rates with all others', async () => {
    const admin = await start();
    const { server } = admin.peers;
    await admin.peers.agent('a');
    const board = new AgentsBoard(server);
    const sampler = new Sampler(server, 3_600_000);
    opened.push(sampler);
    const leave = board.join({ changed: () => {} });
    const first = board.rated('a', sampler);
    assert.ok(first !== undefined);
    assert.equal(board.rated('a', sampler), first);
    sampler.sample();
    assert.notEqual(board.rated('a', sampler), first);
    assert.equal(board.rated('b', sampler), undefined);
    assert.deepEqual(board.countByState(), { ready: 1, draining: 0, drained: 0, gone: 0 });
    leave();
    assert.deepEqual(board.countByState(), { ready: 0, draining: 0, drained: 0, gone: 0 });
  });
});
