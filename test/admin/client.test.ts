import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import type { AdminClient } from '../../src/proxy/admin/client/admin-client.ts';
import { openAdminClient } from '../../src/proxy/admin/client/open-admin-client.ts';
import type { AdminHandlers } from '../../src/proxy/admin/service/admin-handlers.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import type { FaultCode } from '../../src/proxy/ops/fault-code.ts';
import { sampleAgent, sampleEvent, sampleOrder, sampleServer, sampleTunnel } from '../peers/admin-samples.ts';
import { AdminServer } from '../peers/admin-server.ts';
import { deferred } from '../peers/deferred.ts';

const never = new AbortController().signal;
const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function connected(
  handlers: Partial<AdminHandlers>,
  options: { actor?: string; timeoutMs?: number } = {},
): Promise<{ server: AdminServer; client: AdminClient }> {
  const server = await AdminServer.start(handlers);
  const client = openAdminClient(server.address, options);
  opened.push(client, server);
  return { server, client };
}

const fault =
  (code: FaultCode, text: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    assert.match(error.line, text);
    return true;
  };

describe('the admin client', () => {
  it('gives what the server says of itself', async () => {
    const { client } = await connected({ GetServer: () => sampleServer({ dialP99Seconds: 0.25 }) });
    assert.deepEqual(await client.server(never), sampleServer({ dialP99Seconds: 0.25 }));
  });

  it('leaves no connection to a server that never speaks', async (t) => {
    const path = join(tmpdir(), `kts-${process.pid}-silent.sock`);
    const closed = deferred<void>();
    const silent = createServer((socket) => {
      socket.on('error', () => {}).resume();
      socket.once('close', () => closed.resolve());
    });
    silent.listen(path);
    t.after(() => silent.close());
    await once(silent, 'listening');
    const client = openAdminClient(`unix://${path}`, { timeoutMs: 50 });
    await assert.rejects(client.server(never));
    client.close();
    await closed.promise;
  });

  it('gathers the pages of a list of agents', async () => {
    const agents = ['a', 'b', 'c'].map((id) => sampleAgent({ id, order: sampleOrder({ agentId: id }) }));
    const { client } = await connected({
      ListAgents: ({ pageToken = '' }) => {
        const at = Number(pageToken);
        return {
          agents: agents.slice(at, at + 1),
          nextPageToken: at === 2 ? '' : String(at + 1),
          revision: 1,
          epoch: 'e1',
        };
      },
    });
    assert.deepEqual(await client.agents({}, never), agents);
  });

  it('gives the messages of a watch in order, and ends with the signal', async () => {
    const { client } = await connected({
      WatchAgents: async function* (_, { signal }) {
        const base = { epoch: 'e1', removed: [], changed: [] };
        yield { ...base, snapshot: true, snapshotComplete: true, revision: 1 };
        yield { ...base, snapshot: false, snapshotComplete: false, revision: 2 };
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    });
    const stop = new AbortController();
    const revisions: number[] = [];
    for await (const { revision } of client.watchAgents({ intervalSeconds: 1, ratesFor: [] }, stop.signal)) {
      revisions.push(revision);
      if (revision === 2) stop.abort();
    }
    assert.deepEqual(revisions, [1, 2]);
  });

  it('ends the call when its reader leaves the loop', async () => {
    let ended = (): void => {};
    const over = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const { client } = await connected({
      WatchEvents: async function* (_, { signal }) {
        signal.addEventListener('abort', ended);
        yield sampleEvent();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    });
    for await (const event of client.events({ follow: true }, never)) {
      assert.deepEqual(event, sampleEvent());
      break;
    }
    await over;
  });

  it('tells of a watch whose server is gone', async () => {
    const { client, server } = await connected({
      WatchEvents: async function* (_, { signal }) {
        yield sampleEvent();
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    });
    await assert.rejects(
      async () => {
        for await (const _ of client.events({ follow: true }, never)) server.close();
      },
      (error) => error instanceof Fault && error.code === 'admin-unreachable',
    );
  });

  it('sends a drain as it was asked, signed by the actor', async () => {
    let seen: object = {};
    const { client, server } = await connected(
      {
        Drain: (request) => {
          seen = request;
          return {
            results: [
              {
                agentId: 'node-a',
                change: 'placed',
                order: sampleOrder(),
                agent: sampleAgent(),
                takeover: ['any destination: node-b'],
                notes: [],
              },
            ],
          };
        },
      },
      { actor: 'ann@desk' },
    );
    const [result] = await client.drain(
      { agentIds: ['node-a'], deadlineSeconds: 0, orderIds: { 'node-a': 'kq3ma7zd' } },
      never,
    );
    assert.deepEqual(result?.order, sampleOrder());
    assert.deepEqual(JSON.parse(JSON.stringify(seen)), {
      agentIds: ['node-a'],
      reason: '',
      deadlineSeconds: 0,
      atDeadline: '',
      until: '',
      force: false,
      validateOnly: false,
      orderIds: { 'node-a': 'kq3ma7zd' },
      actor: 'ann@desk',
      assumeDrained: [],
    });
    assert.deepEqual(server.calls, [{ method: 'Drain', actor: 'ann@desk' }]);
  });

  it('leaves a deadline out that was not given', async () => {
    let seen: object = { deadlineSeconds: 1 };
    const { client } = await connected({
      Drain: (request) => {
        seen = request;
        return { results: [] };
      },
    });
    await client.drain({ agentIds: ['node-a'] }, never);
    assert.ok(!('deadlineSeconds' in seen));
  });

  it('gives tunnels with their pages, and the one that it closed', async () => {
    const page = { tunnels: [sampleTunnel({ pausedSeconds: 0 })], nextPageToken: 'x', total: 9 };
    const { client } = await connected({
      ListTunnels: () => page,
      CloseTunnel: ({ id }) => ({ tunnel: sampleTunnel({ id, closeReason: 'closed-by-operator' }) }),
    });
    assert.deepEqual(await client.tunnels({ agent: 'node-a' }, never), page);
    assert.equal((await client.closeTunnel({ id: 'b' }, never)).closeReason, 'closed-by-operator');
  });
});

describe('what the admin client says of a refusal', () => {
  for (const [code, answer] of [
    ['admin-not-found', 'no agent has the ID node-x'],
    ['admin-refused', 'nobody else serves 10.0.0.7; add --force'],
    ['admin-denied', 'the role viewer may not drain'],
    ['admin-bad-request', 'until "x" is no such word'],
  ] as const) {
    it(`${code} carries the server's own words`, async () => {
      const { client } = await connected({
        Drain: () => {
          throw new Fault(code, answer);
        },
      });
      await assert.rejects(
        client.drain({ agentIds: ['node-a'] }, never),
        fault(code, new RegExp(answer.slice(0, 12))),
      );
    });
  }

  it('a method that the server does not have is told as an older server', async () => {
    const { client } = await connected({});
    await assert.rejects(client.orders(never), fault('admin-unreachable', /has no admin service.*not older/));
  });

  it('a socket that is not there is told with its path', async () => {
    const client = openAdminClient('unix:///nowhere/admin.sock');
    opened.push(client);
    await assert.rejects(
      client.server(never),
      fault('admin-unreachable', /nowhere\/admin\.sock does not exist/),
    );
  });

  it('a server that does not answer in time is told as one', async () => {
    const { client } = await connected({ GetServer: () => new Promise(() => {}) }, { timeoutMs: 50 });
    await assert.rejects(client.server(never), fault('admin-unreachable', /does not answer in time/));
  });

  it('an aborted call rejects with the reason of its signal', async () => {
    const stop = new AbortController();
    const { client } = await connected({
      GetServer: () => {
        stop.abort(new Error('enough'));
        return new Promise(() => {});
      },
    });
    await assert.rejects(client.server(stop.signal), /enough/);
    await assert.rejects(client.server(stop.signal), /enough/);
  });

  it('a port that speaks something else is told within the time of a call', async () => {
    const path = `/tmp/kts-admin-other-${process.pid}.sock`;
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => other.listen(path, resolve));
    const client = openAdminClient(`unix://${path}`, { timeoutMs: 500 });
    opened.push(client, other);
    await assert.rejects(client.server(never), fault('admin-unreachable', /./));
  });

  for (const [address, text] of [
    ['here', /no address of an admin service/],
    ['host:0', /no address of an admin service/],
    ['host:8096', /asks for a client certificate/],
    [`unix:///${'x'.repeat(120)}`, /bytes long/],
    ['unix:', /is empty/],
  ] as const) {
    it(`the address ${address.slice(0, 20)} is refused with what to give`, () => {
      assert.throws(
        () => openAdminClient(address),
        (error) => error instanceof Fault && text.test(error.line),
      );
    });
  }
});
