import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { openAdminClient } from '../../src/proxy/admin/client/open-admin-client.ts';
import { MessageReader } from '../../src/proxy/admin/messages/message-reader.ts';
import { MessageWriter } from '../../src/proxy/admin/messages/message-writer.ts';
import { type AdminService, openAdminService } from '../../src/proxy/admin/service/open-admin-service.ts';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import type { FaultCode } from '../../src/proxy/ops/fault-code.ts';
import { createLog } from '../../src/proxy/ops/log.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { Inbox } from '../peers/inbox.ts';
import type { Pair } from '../peers/pki.ts';
import { TestServer } from '../peers/test-server.ts';

const never = new AbortController().signal;
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
let peers: TestServer;
let directory: string;
const lines = new Inbox<string>();
const opened: { close(): unknown }[] = [];

beforeEach(async () => {
  peers = await TestServer.start();
  directory = mkdtempSync(join(tmpdir(), 'kts-adm-'));
  lines.all.length = 0;
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await peers.close();
  rmSync(directory, { recursive: true, force: true });
});

type Options = Partial<Parameters<typeof openAdminService>[1]>;

async function open(options: Options): Promise<AdminService> {
  const log = createLog({ verbosity: 1, write: (line) => lines.push(line) });
  const service = await openAdminService(
    peers.server,
    { socket: { kind: 'off' }, auditLog: '', keepsOrders: false, ...options },
    log,
  );
  opened.push(service);
  return service;
}

/** As a user with that runtime directory. */
function byDefault(runtime = directory): Options {
  return {
    socket: {
      kind: 'default',
      facts: {
        uid: process.getuid?.() === 0 ? undefined : process.getuid?.(),
        env: { XDG_RUNTIME_DIR: runtime },
        temporary: directory,
      },
    },
  };
}

/** A socket as a server leaves it that is killed. */
function leaveSocket(path: string): void {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  assert.throws(() => execFileSync(process.execPath, ['-e', script], { stdio: 'ignore' }));
  assert.ok(lstatSync(path).isSocket());
}

function refused(code: FaultCode, text = /./): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code, error.line);
    assert.match(error.line, text);
    return true;
  };
}

describe('the admin socket', () => {
  it('is for its owner alone, in a directory likewise, and removed at the end', async () => {
    const service = await open(byDefault());
    assert.equal(service.socketPath, join(directory, 'konnectivity-ts', 'admin.sock'));
    assert.equal(lstatSync(service.socketPath).mode & 0o777, 0o600);
    assert.equal(lstatSync(join(directory, 'konnectivity-ts')).mode & 0o777, 0o700);
    await service.close();
    assert.deepEqual(readdirSync(join(directory, 'konnectivity-ts')), []);
  });

  it('of a second server has its ID in the name, and both answer', async () => {
    await open(byDefault());
    const second = await open(byDefault());
    assert.equal(second.socketPath, join(directory, 'konnectivity-ts', 'admin-server-1.sock'));
    for (const name of ['admin.sock', 'admin-server-1.sock']) {
      const client = openAdminClient(`unix://${join(directory, 'konnectivity-ts', name)}`);
      opened.push(client);
      assert.equal((await client.server(never)).id, 'server-1');
    }
  });

  it('of servers that were killed are removed at a start, and nothing else is', async () => {
    const place = join(directory, 'konnectivity-ts');
    mkdirSync(place, { mode: 0o700 });
    leaveSocket(join(place, 'admin.sock'));
    leaveSocket(join(place, 'admin-dead.sock'));
    leaveSocket(join(place, 'other.sock'));
    writeFileSync(join(place, 'admin-file.sock'), '');
    const service = await open(byDefault());
    assert.equal(service.socketPath, join(place, 'admin.sock'));
    await open(byDefault());
    assert.deepEqual(readdirSync(place).sort(), [
      'admin-file.sock',
      'admin-server-1.sock',
      'admin.sock',
      'other.sock',
    ]);
  });

  it('that cannot be made at its default place is one warning', async () => {
    mkdirSync(join(directory, 'konnectivity-ts'));
    chmodSync(join(directory, 'konnectivity-ts'), 0o777);
    const service = await open(byDefault());
    assert.equal(service.socketPath, '');
    assert.equal(lines.all.filter((line) => line.startsWith('W')).length, 1);
    assert.match(lines.all.join(), /There is no admin socket.*can be written to by others/);
  });

  it('is not made in a default directory of another user, who could answer in its place', async () => {
    const uid = (process.getuid?.() ?? 0) + 1;
    mkdirSync(join(directory, `konnectivity-ts-${uid}`), { mode: 0o700 });
    const service = await open({
      socket: { kind: 'default', facts: { uid, env: {}, temporary: directory } },
    });
    assert.equal(service.socketPath, '');
    assert.match(lines.all.join(), /There is no admin socket.*belongs to another user/);
    assert.deepEqual(readdirSync(join(directory, `konnectivity-ts-${uid}`)), []);
  });

  it('with a default path that is too long is one warning', async () => {
    const service = await open(byDefault(join(directory, 'x'.repeat(120))));
    assert.equal(service.socketPath, '');
    assert.match(lines.all.join(), /bytes long/);
  });

  it('at a path that is taken is a refusal', async () => {
    const path = join(directory, 'taken');
    writeFileSync(path, '');
    await assert.rejects(
      open({ socket: { kind: 'path', path } }),
      refused('socket-occupied', /--admin-socket/),
    );
  });

  it('that a dead server left is replaced', async () => {
    const path = join(directory, 'admin.sock');
    leaveSocket(path);
    const service = await open({ socket: { kind: 'path', path } });
    assert.equal(service.socketPath, path);
  });

  it('ends a connection that speaks something else, and serves on', async () => {
    const { socketPath } = await open({ socket: { kind: 'path', path: join(directory, 'a.sock') } });
    const socket = connect({ path: socketPath });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await closed;
    const client = openAdminClient(`unix://${socketPath}`);
    opened.push(client);
    assert.equal((await client.server(never)).id, 'server-1');
  });
});

describe('the admin port', () => {
  async function tcp(own = true): Promise<{ service: AdminService; address: string; ca: Pair }> {
    const ca = await peers.pki.authority(own ? 'admin CA' : 'other');
    const server = await peers.pki.server(ca);
    const files = { certFile: server.certFile, keyFile: server.keyFile, caFile: ca.certFile };
    const service = await open({ tcp: { host: '127.0.0.1', port: 0, ...files } });
    return { service, address: `127.0.0.1:${service.port}`, ca };
  }

  async function as(ca: Pair, organization: string | undefined): Promise<Pair> {
    return await peers.pki.client(ca, {
      commonName: 'ann',
      ...(organization === undefined ? {} : { organization }),
    });
  }

  function client(address: string, ca: Pair, pair: Pair) {
    const made = openAdminClient(address, {
      certFile: pair.certFile,
      keyFile: pair.keyFile,
      caFile: ca.certFile,
      actor: 'somebody-else',
    });
    opened.push(made);
    return made;
  }

  it('warns of a CA that also signs agents', async () => {
    const ca = await peers.pki.authority('shared CA');
    const leaf = await peers.pki.server(ca);
    const files = { certFile: leaf.certFile, keyFile: leaf.keyFile, caFile: ca.certFile };
    const shares = await TestServer.start({ agents: { host: '127.0.0.1', port: 0, tls: files } });
    try {
      const lines: string[] = [];
      const log = createLog({ verbosity: 0, write: (line) => lines.push(line) });
      const service = await openAdminService(
        shares.server,
        {
          socket: { kind: 'off' },
          tcp: { host: '127.0.0.1', port: 0, ...files },
          auditLog: '',
          keepsOrders: false,
        },
        log,
      );
      await service.close();
      assert.equal(lines.filter((line) => line.includes('has a CA that also signs agents')).length, 1);
    } finally {
      await shares.close();
    }
  });

  it('takes changes of operators, under the name of their certificate', async () => {
    const { address, ca } = await tcp();
    await peers.agent('a');
    await peers.agent('b');
    const operator = client(address, ca, await as(ca, 'konnectivity-ts:operators'));
    assert.deepEqual((await operator.server(never)).caller, { name: 'ann', role: 'operator' });
    const [result] = await operator.drain({ agentIds: ['a'] }, never);
    assert.deepEqual([result?.order.actor, result?.order.actorClaimed], ['ann', false]);
  });

  it('lets viewers look and try out, and nothing else', async () => {
    const { address, ca } = await tcp();
    await peers.agent('a');
    await peers.agent('b');
    const viewer = client(address, ca, await as(ca, 'konnectivity-ts:viewers'));
    assert.equal((await viewer.agents({}, never)).length, 2);
    assert.equal((await viewer.server(never)).caller.role, 'viewer');
    assert.equal((await viewer.drain({ agentIds: ['a'], validateOnly: true }, never)).length, 1);
    for (const change of [
      viewer.drain({ agentIds: ['a'] }, never),
      viewer.undrain({ agentIds: ['a'] }, never),
      viewer.closeTunnel({ id: 'b' }, never),
    ]) {
      await assert.rejects(change, refused('admin-denied', /role viewer.*konnectivity-ts:operators/));
    }
    assert.deepEqual(await viewer.orders(never), []);
  });

  for (const organization of [undefined, 'system:masters']) {
    it(`denies everything to ${organization ?? 'no organisation'}, reflection and health too`, async () => {
      const { address, ca } = await tcp();
      const pair = await as(ca, organization);
      const nobody = client(address, ca, pair);
      await assert.rejects(nobody.server(never), refused('admin-denied', /gives no role here/));
      await assert.rejects(async () => {
        for await (const _ of nobody.events({ follow: false }, never));
      }, refused('admin-denied'));
      const tls = loadClientTls({ ...pair, caFile: ca.certFile, labels: { cert: '', key: '', ca: '' } });
      const raw = new Client(address, channelCredentials(tls));
      opened.push(raw);
      assert.equal((await failure(raw, REFLECTION)).code, 7);
      assert.equal((await failure(raw, '/grpc.health.v1.Health/Watch')).code, 7);
    });
  }

  it('refuses a client without a certificate of its CA', async () => {
    const { address, ca } = await tcp();
    const other = await peers.pki.authority('stranger');
    const stranger = client(address, ca, await as(other, 'konnectivity-ts:operators'));
    await assert.rejects(stranger.server(never), refused('admin-unreachable'));
  });
});

describe('reflection and health', () => {
  async function raw(): Promise<Client> {
    const { socketPath } = await open({ socket: { kind: 'path', path: join(directory, 'r.sock') } });
    const made = new Client(`unix:${socketPath}`, credentials.createInsecure(), {
      'grpc.default_authority': 'localhost',
    });
    opened.push(made);
    return made;
  }

  it('lists the services, and gives files that hold every field of the .proto', async () => {
    const client = await raw();
    const services = await reflect(client, 7, '*');
    assert.deepEqual(strings(services, 6, 1), ['konnectivity.admin.v1.Admin', 'grpc.health.v1.Health']);
    const files = await reflect(client, 4, 'konnectivity.admin.v1.Admin');
    const set = { file: fields(files, 4).map((bytes) => descriptor.FileDescriptorProto.decode(bytes)) };
    const told = (protobuf.Root as unknown as { fromDescriptor(set: object): protobuf.Root }).fromDescriptor(
      set,
    );
    const real = new protobuf.Root().loadSync('proto/admin.proto', { keepCase: true });
    const [shown, wanted] = [told, real].map((root) => {
      root.resolveAll();
      const names = Object.keys((real.lookup('konnectivity.admin.v1') as protobuf.Namespace).nested ?? {});
      return names.flatMap((name) => {
        const found = root.lookup(`konnectivity.admin.v1.${name}`);
        if (found instanceof protobuf.Service) {
          return found.methodsArray.map(
            (one) =>
              `${one.name} ${one.resolvedRequestType?.name} ${one.resolvedResponseType?.name} ${one.responseStream === true}`,
          );
        }
        assert.ok(found instanceof protobuf.Type, name);
        return found.fieldsArray.map(
          (one) => `${name}.${one.name} ${one.id} ${one.type.split('.').at(-1)} ${one.repeated}`,
        );
      });
    });
    // protobufjs reads the entries of a map as a list of messages.
    const plain = (list: string[] | undefined) => list?.filter((line) => !line.includes('order_ids')).sort();
    assert.deepEqual(plain(shown), plain(wanted));
  });

  it('says NOT_FOUND of a symbol that is none', async () => {
    const answer = new MessageReader(await reflect(await raw(), 4, 'no.such.Thing'));
    const tags: number[] = [];
    while (answer.more) {
      const tag = answer.tag();
      tags.push(tag >>> 3);
      answer.skip(tag);
    }
    assert.deepEqual(tags, [2, 7]);
  });

  it('health is SERVING, and NOT_SERVING once the server stops', async () => {
    const client = await raw();
    const call = client.makeServerStreamRequest(
      '/grpc.health.v1.Health/Watch',
      () => Buffer.alloc(0),
      (bytes: Buffer) => bytes[1],
      {},
    );
    call.on('error', () => {});
    const seen: unknown[] = [];
    for await (const status of call) {
      seen.push(status);
      if (seen.length === 1) void peers.server.shutdown(0, never);
      if (seen.length === 2) break;
    }
    assert.deepEqual(seen, [1, 2]);
  });
});

function failure(client: Client, path: string): Promise<ServiceError> {
  return new Promise((resolve) => {
    const call = client.makeBidiStreamRequest(
      path,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
    );
    call.on('error', resolve);
    call.on('data', () => {});
    call.end(Buffer.alloc(0));
  });
}

/** Asks the reflection service one thing. */
function reflect(client: Client, field: number, argument: string): Promise<Buffer> {
  const writer = new MessageWriter();
  writer.string(field, argument);
  return new Promise((resolve, reject) => {
    const call = client.makeBidiStreamRequest(
      REFLECTION,
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
    );
    call.on('error', reject);
    call.on('data', resolve);
    call.write(writer.copy());
    call.end();
  });
}

/** The contents of the fields 1 of a message that is the field `number`. */
function fields(message: Buffer, number: number): Buffer[] {
  const root = protobuf.parse(
    'syntax="proto3"; message A { B b = 1; } message B { repeated bytes c = 1; }',
  ).root;
  const [type, inner] = [root.lookupType('A'), root.lookupType('B')];
  const reader = protobuf.Reader.create(message);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === number) return (inner.decode(reader, reader.uint32()) as unknown as { c: Buffer[] }).c;
    reader.skipType(tag & 7);
  }
  assert.ok(type);
  return [];
}

function strings(message: Buffer, number: number, inner: number): string[] {
  return fields(message, number).map((bytes) => {
    const reader = protobuf.Reader.create(bytes);
    assert.equal(reader.uint32() >>> 3, inner);
    return reader.string();
  });
}
