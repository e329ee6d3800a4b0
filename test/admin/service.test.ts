import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { Client, credentials, type ServiceError, status as Status } from '@grpc/grpc-js';
import { methodCodec } from '../../src/proxy/admin/messages/methods.ts';
import type { Agent } from '../../src/proxy/admin/model/agent.ts';
import type { AdminEvent } from '../../src/proxy/admin/model/event.ts';
import type { AdminServiceOptions } from '../../src/proxy/admin/service/open-admin-service.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import type { FaultCode } from '../../src/proxy/ops/fault-code.ts';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest, status } from '../../src/proxy/wire/packets.ts';
import { AdminCase } from '../peers/admin-case.ts';
import { answering } from '../peers/answering.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import type { TestServerOptions } from '../peers/test-server.ts';

const never = new AbortController().signal;
let running: AdminCase | undefined;
let directory: string | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
  if (directory !== undefined) rmSync(directory, { recursive: true });
  directory = undefined;
});

async function start(
  server: TestServerOptions = {},
  admin: Partial<AdminServiceOptions> = {},
): Promise<AdminCase> {
  running = await AdminCase.start({ server, admin });
  return running;
}

const refused =
  (code: FaultCode, text: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    assert.match(error.line, text);
    return true;
  };

let lastDialId = 100n;

/** Opens a tunnel through whichever agent is chosen. */
async function tunnel({ peers }: AdminCase, address = '10.0.0.7:10250'): Promise<ScriptedStream> {
  const frontend = peers.frontend();
  frontend.send(dialRequest(++lastDialId, address));
  assert.equal((await frontend.next(PacketType.DIAL_RSP)).error, '');
  return frontend;
}

async function agentOf({ client }: AdminCase, id: string): Promise<Agent> {
  return (await client.agent(id, never)).agent;
}

/** Resolves when the service shows the agent so. */
async function heard(admin: AdminCase, id: string, isSo: (agent: Agent) => boolean): Promise<void> {
  while (!isSo(await agentOf(admin, id))) await new Promise((resolve) => setImmediate(resolve));
}

describe('what nobody can ask for', () => {
  for (const [target, why] of [
    ['10.0.0.9:99999', /has no port from 1 to 65535/],
    ['10.0.0.9:0', /has no port from 1 to 65535/],
    ['10.0.0.9:', /has no port from 1 to 65535/],
    ['[fd00::1]:http', /has no port from 1 to 65535/],
    [':80', /has no host/],
    ['[]:80', /has no valid host/],
    ['a b:80', /has no valid host/],
    ['a:b:c', /is none/],
  ] as const) {
    it(`is a target like ${target}`, async () => {
      const admin = await start();
      await assert.rejects(admin.client.select({ target }, never), refused('admin-bad-request', why));
    });
  }

  for (const target of [
    '10.0.0.9:80',
    '10.0.0.9',
    'node-a.example.:65535',
    '[fd00::1]:1',
    'fd00::1',
    '[::1]',
  ]) {
    it(`is not a target like ${target}`, async () => {
      const admin = await start();
      assert.equal((await admin.client.select({ target }, never)).target, target);
    });
  }

  it('is more than 1,000 assumed agents', async () => {
    const admin = await start();
    const ids = Array.from({ length: 1_001 }, (_, i) => `a${i}`);
    for (const assumed of [{ assumeDrained: ids }, { assumeGone: ids }]) {
      await assert.rejects(
        admin.client.select({ target: 'a:1', ...assumed }, never),
        refused('admin-bad-request', /names 1001 agents; name at most 1000/),
      );
    }
    await assert.rejects(
      admin.client.agents({ ratesFor: ids }, never),
      refused('admin-bad-request', /rates_for names 1001 agents/),
    );
  });
});

describe('the agents of an admin service', () => {
  it('are listed by ID, with what they said of themselves', async () => {
    const admin = await start();
    await admin.peers.agent('b', { kind: 'go' });
    await admin.peers.agent('a', {
      identifiers: 'host=node-a&ipv4=10.0.0.7&default-route=true',
      instance: 'i1',
    });
    const [a, b] = await admin.client.agents({}, never);
    assert.deepEqual(
      [a?.id, a?.state, a?.kind, a?.instance, a?.conditions, a?.serverIds],
      ['a', 'ready', 'ts', 'i1', [], ['server-1']],
    );
    assert.deepEqual(a?.identifiers, [
      { kind: 'host', value: 'node-a' },
      { kind: 'ipv4', value: '10.0.0.7' },
      { kind: 'default-route', value: 'true' },
    ]);
    assert.equal(a?.streams[0]?.state, 'ready');
    assert.match(a?.streams[0]?.remoteAddress ?? '', /^127\.0\.0\.1:\d+$/);
    assert.deepEqual([b?.id, b?.kind, b !== undefined && 'instance' in b], ['b', 'go', false]);
  });

  it('come in pages that hold each once', async () => {
    const admin = await start();
    for (const id of ['c', 'a', 'b']) await admin.peers.agent(id);
    const agents = await admin.client.agents({ ratesFor: ['b'] }, never);
    assert.deepEqual(
      agents.map(({ id, rates }) => [id, rates !== undefined]),
      [
        ['a', false],
        ['b', true],
        ['c', false],
      ],
    );
  });

  it('are draining under an order, drained when nothing is left, and ready again after undrain', async () => {
    const admin = await start();
    const a = await admin.peers.agent('a');
    answering(a);
    const frontend = await tunnel(admin);
    answering(await admin.peers.agent('b'));
    const [placed] = await admin.client.drain({ agentIds: ['a'], reason: 'disk' }, never);
    assert.deepEqual(
      [placed?.change, placed?.agent.state, placed?.agent.source],
      ['placed', 'draining', 'order'],
    );
    assert.deepEqual(
      [placed?.order.actor, placed?.order.actorClaimed, placed?.order.reason],
      ['ann@desk', true, 'disk'],
    );
    assert.equal(placed?.agent.tunnelsHere, 1);
    const stop = new AbortController();
    for await (const { changed } of admin.client.watchAgents(
      { intervalSeconds: 0.1, ratesFor: [] },
      stop.signal,
    )) {
      const state = changed.find(({ id }) => id === 'a')?.state;
      if (state === 'draining') frontend.stream.abort(1, 'done');
      if (state === 'drained') stop.abort();
    }
    const drained = await agentOf(admin, 'a');
    assert.deepEqual([drained.safeToStop, drained.lastFor, drained.replacements], [true, [], 1]);
    const [ended] = await admin.client.undrain({ agentIds: ['a'] }, never);
    assert.deepEqual([ended?.change, ended?.agent.state], ['ended', 'ready']);
  });

  it('are not drained while our agent says that another server has a tunnel of it', async () => {
    const admin = await start();
    const a = await admin.peers.agent('a');
    await admin.peers.agent('b');
    a.send(status({ ...blankStatus(), tunnels: 2, serverIds: ['server-1', 'server-2'] }));
    await admin.client.drain({ agentIds: ['a'] }, never);
    const agent = await agentOf(admin, 'a');
    assert.deepEqual([agent.state, agent.tunnels, agent.tunnelsHere], ['draining', 2, 0]);
  });

  it('that were the last way out are not safe to stop, and say for what', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    await admin.client.drain({ agentIds: ['a'], force: true }, never);
    const agent = await agentOf(admin, 'a');
    assert.deepEqual([agent.state, agent.safeToStop, agent.lastFor], ['drained', false, ['any destination']]);
  });

  it('are safe to stop by the word of one server only when the agent carries that the others agree', async () => {
    const admin = await start();
    const a = await admin.peers.agent('a');
    await admin.peers.agent('b');
    await admin.client.drain({ agentIds: ['a'] }, never);
    const said = async (replacements: number): Promise<unknown[]> => {
      const serverIds = ['server-1', 'server-2'];
      a.send(status({ ...blankStatus(), serverIds, tunnels: 7 }));
      await heard(admin, 'a', (agent) => agent.tunnels === 7);
      a.send(status({ ...blankStatus(), serverIds, replacements }));
      await heard(admin, 'a', (agent) => agent.tunnels === 0);
      const agent = await agentOf(admin, 'a');
      return [agent.state, agent.safeToStop, agent.replacements];
    };
    assert.deepEqual(await said(-1), ['drained', false, 1]);
    assert.deepEqual(await said(0), ['drained', false, 0]);
    assert.deepEqual(await said(3), ['drained', true, 1]);
  });

  it('that leave are told as leaving, also under an order', async () => {
    const admin = await start();
    const a = await admin.peers.agent('a');
    await admin.peers.agent('b');
    await admin.client.drain({ agentIds: ['a'] }, never);
    a.send(status({ ...blankStatus(), leaving: true, serverIds: ['server-1'] }));
    await admin.peers.logged('Agent drains');
    const agent = await agentOf(admin, 'a');
    assert.deepEqual(
      [agent.source, agent.order?.agentId, agent.leavingSince instanceof Date],
      ['leaving', 'a', true],
    );
  });

  it('are gone, and still known, after they disconnected', async () => {
    const admin = await start();
    const a = await admin.peers.agent('a');
    a.stream.abort(1, 'bye');
    await admin.peers.logged('Agent disconnected');
    const agent = await agentOf(admin, 'a');
    assert.deepEqual([agent.state, agent.streams, agent.lastSeen instanceof Date], ['gone', [], true]);
    assert.equal((await admin.client.server(never)).totals.gone, 1);
  });

  it('that are late have the condition late', async () => {
    const admin = await start({
      times: { probe: { intervalMs: 20, suspectMs: 20, urgentSuspectMs: 20, deadMs: 60_000 } },
    });
    await admin.peers.agent('a');
    await admin.peers.logged('Agent is late');
    const agent = await agentOf(admin, 'a');
    assert.deepEqual([agent.conditions, agent.streams[0]?.state], [['late'], 'suspect']);
  });

  it('that have not reached every server have the condition partial', async () => {
    const admin = await start({ serverCount: 2 });
    await admin.peers.agent('a');
    assert.deepEqual((await agentOf(admin, 'a')).conditions, ['partial']);
  });

  it('come one at a time with their tunnels, the oldest first, what ended, and what happened', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'));
    for (const port of [1, 2, 3]) await tunnel(admin, `10.0.0.7:${port}`);
    answering(await admin.peers.agent('b'));
    await admin.client.drain({ agentIds: ['a'] }, never);
    await tunnel(admin, '10.0.0.8:1');
    const [first] = (await admin.client.tunnels({ agent: 'a' }, never)).tunnels;
    await admin.client.closeTunnel({ id: first?.id ?? '' }, never);
    const details = await admin.client.agent('a', never);
    assert.deepEqual(
      details.tunnels.map(({ destination }) => destination),
      ['10.0.0.7:2', '10.0.0.7:3'],
    );
    assert.deepEqual(
      details.ended.map(({ destination, closeReason }) => [destination, closeReason]),
      [['10.0.0.7:1', 'closed-by-operator']],
    );
    assert.deepEqual(
      details.events.map(({ type }) => type),
      ['tunnel-closed-by-operator', 'order-placed', 'agent-connected'],
    );
  });

  it('stay under their order when its end is only validated', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    await admin.peers.agent('b');
    await admin.client.drain({ agentIds: ['a'] }, never);
    const [result] = await admin.client.undrain({ agentIds: ['a'], validateOnly: true }, never);
    assert.deepEqual([result?.change, result?.agent.source], ['ended', 'order']);
    assert.equal((await admin.client.orders(never)).length, 1);
  });

  it('that nobody knows are told as unknown', async () => {
    const admin = await start();
    await assert.rejects(
      admin.client.agent('x', never),
      refused('admin-not-found', /no agent "x".*konnectivity-ts agents/),
    );
    await assert.rejects(
      admin.client.drain({ agentIds: ['x'] }, never),
      refused('admin-not-found', /no agent x/),
    );
  });
});

describe('a watch of agents', () => {
  it('sends a snapshot, then what changed and no more, then what is gone', async () => {
    const admin = await start();
    const ids = ['a', 'b', 'c'];
    for (const id of ids) await admin.peers.agent(id);
    const stop = new AbortController();
    const seen: string[][] = [];
    let revision = 0;
    for await (const change of admin.client.watchAgents(
      { intervalSeconds: 0.1, ratesFor: [] },
      stop.signal,
    )) {
      assert.ok(change.revision >= revision);
      revision = change.revision;
      if (change.changed.length === 0) continue;
      seen.push([change.snapshot ? 'snapshot' : 'delta', ...change.changed.map(({ id }) => id)]);
      if (seen.length === 1) await admin.client.drain({ agentIds: ['b'] }, never);
      if (change.changed.some(({ id, state }) => id === 'b' && state === 'drained')) stop.abort();
    }
    assert.deepEqual(seen[0], ['snapshot', 'a', 'b', 'c']);
    assert.deepEqual(
      new Set(
        seen
          .slice(1)
          .flat()
          .filter((word) => word !== 'delta'),
      ).has('b'),
      true,
    );
    assert.equal(admin.service.watchers <= 1, true);
  });

  it('sends rates of the agents that are asked for with every message', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'));
    await admin.peers.agent('b');
    const stop = new AbortController();
    let messages = 0;
    for await (const { changed } of admin.client.watchAgents(
      { intervalSeconds: 0.1, ratesFor: ['a'] },
      stop.signal,
    )) {
      const a = changed.find(({ id }) => id === 'a');
      assert.ok(a?.rates !== undefined);
      if (++messages === 3) stop.abort();
    }
  });

  it('of some agents sends those alone', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    await admin.peers.agent('b');
    const request = { intervalSeconds: 1, ratesFor: [], only: ['b', 'nobody'] };
    for await (const { changed, snapshotComplete } of admin.client.watchAgents(request, never)) {
      assert.deepEqual(
        changed.map(({ id }) => id),
        ['b'],
      );
      assert.equal(snapshotComplete, true);
      break;
    }
  });

  for (const [request, text] of [
    [{ intervalSeconds: 0.01, ratesFor: [] }, /interval of 0.01 s/],
    [{ intervalSeconds: Number.NaN, ratesFor: [] }, /interval of NaN s/],
    [{ intervalSeconds: 1, ratesFor: Array.from({ length: 501 }, String) }, /rates_for names 501/],
  ] as const) {
    it(`with ${text.source} is refused`, async () => {
      const admin = await start();
      await assert.rejects(
        async () => {
          for await (const _ of admin.client.watchAgents(request, never)) break;
        },
        refused('admin-bad-request', text),
      );
    });
  }

  it('leaves nothing behind when a hundred clients vanish', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    const stop = new AbortController();
    const clients = Array.from({ length: 100 }, () => admin.open(admin.address));
    const watches = clients.map(async (client) => {
      for await (const _ of client.watchAgents({ intervalSeconds: 0.1, ratesFor: [] }, stop.signal)) return;
    });
    await Promise.all(watches);
    for (const client of clients) client.close();
    await until(() => admin.service.watchers === 0 && admin.service.connections <= 1);
  });
});

describe('what an admin service refuses', () => {
  it('a drain that would leave nobody ready, with what overrides it', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    await assert.rejects(
      admin.client.drain({ agentIds: ['a'] }, never),
      refused('admin-refused', /any destination/),
    );
    assert.deepEqual(await admin.client.orders(never), []);
  });

  it('words that are none', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    await assert.rejects(
      admin.client.drain({ agentIds: ['a'], until: 'sunday' as never }, never),
      refused('admin-bad-request', /until "sunday".*undrain or restart/),
    );
    await assert.rejects(
      admin.client.drain({ agentIds: [] }, never),
      refused('admin-bad-request', /no agent is named/),
    );
    await assert.rejects(
      admin.client.undrain({ agentIds: [] }, never),
      refused('admin-bad-request', /no agent is named/),
    );
    await assert.rejects(
      admin.client.drain({ agentIds: Array.from({ length: 1001 }, String) }, never),
      refused('admin-bad-request', /1001 agents/),
    );
    await assert.rejects(
      admin.client.select({ target: '' }, never),
      refused('admin-bad-request', /host:port/),
    );
    await assert.rejects(
      admin.client.tunnels({ sort: 'colour' as never }, never),
      refused('admin-bad-request', /age, buffered or rate/),
    );
    await assert.rejects(
      admin.client.tunnels({ pageSize: -1 }, never),
      refused('admin-bad-request', /page size/),
    );
  });

  for (const pageToken of ['x', '?', '=', '../..', 'YQ==', 'A'.repeat(100_000)]) {
    it(`the page token ${pageToken.slice(0, 24)} of agents`, async () => {
      const admin = await start();
      const listing = methodCodec('ListAgents');
      const raw = new Client(admin.address.replace('unix://', 'unix:'), credentials.createInsecure());
      try {
        const asked = new Promise((resolve, reject) => {
          raw.makeUnaryRequest(
            listing.path,
            listing.encodeRequest,
            listing.decodeResponse,
            { pageToken, ratesFor: [] },
            (error, answer) => (error === null ? resolve(answer) : reject(error)),
          );
        });
        await assert.rejects(asked, (error: ServiceError) => {
          assert.equal(error.code, Status.INVALID_ARGUMENT);
          assert.match(error.details, /none of ours/);
          return true;
        });
      } finally {
        raw.close();
      }
    });
  }

  for (const pageToken of ['x', '-1', '999999999999999999999', 'A'.repeat(100_000)]) {
    it(`the page token ${pageToken.slice(0, 24)} of tunnels`, async () => {
      const admin = await start();
      await assert.rejects(
        admin.client.tunnels({ pageToken }, never),
        refused('admin-bad-request', /none of ours/),
      );
    });
  }
});

describe('the tunnels of an admin service', () => {
  it('are listed with where they go, oldest first, and by destination in any spelling', async () => {
    const admin = await start();
    const agent = await admin.peers.agent('a');
    answering(agent);
    const frontend = await tunnel(admin, '10.0.0.7:10250');
    await tunnel(admin, 'Node-B.example:10250');
    frontend.stream.sendFrame(encodeDataFrame(1, Buffer.from('hello')));
    await agent.next(PacketType.DATA);
    const page = await admin.client.tunnels({}, never);
    assert.deepEqual(
      page.tunnels.map(({ destination, agent: id, mode, strategy }) => [destination, id, mode, strategy]),
      [
        ['10.0.0.7:10250', 'a', 'grpc', 'default'],
        ['Node-B.example:10250', 'a', 'grpc', 'default'],
      ],
    );
    assert.equal(page.tunnels[0]?.bytesToNode, 5);
    for (const destination of ['node-b.example', 'NODE-B.example.:10250']) {
      assert.equal((await admin.client.tunnels({ destination }, never)).total, 1);
    }
    assert.equal((await admin.client.tunnels({ destination: '10.0.0.7:1' }, never)).total, 0);
    assert.equal((await admin.client.tunnels({ agent: 'b' }, never)).total, 0);
  });

  it('come in pages', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'));
    for (let i = 1; i <= 3; i++) await tunnel(admin, `10.0.0.${i}:80`);
    const first = await admin.client.tunnels({ pageSize: 2 }, never);
    const second = await admin.client.tunnels({ pageSize: 2, pageToken: first.nextPageToken }, never);
    assert.deepEqual(
      [...first.tunnels, ...second.tunnels].map(({ destination }) => destination),
      ['10.0.0.1:80', '10.0.0.2:80', '10.0.0.3:80'],
    );
    assert.deepEqual([first.total, second.nextPageToken], [3, '']);
  });

  it('are sorted by their rates when that is asked for', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'));
    await tunnel(admin, '10.0.0.1:80');
    const busy = await tunnel(admin, '10.0.0.2:80');
    const send = (): void => void busy.stream.sendFrame(encodeDataFrame(2, Buffer.alloc(100)));
    const first = async (): Promise<string | undefined> => {
      send();
      return (await admin.client.tunnels({ sort: 'rate' }, never)).tunnels[0]?.destination;
    };
    assert.equal((await admin.client.tunnels({ sort: 'age' }, never)).tunnels[0]?.destination, '10.0.0.1:80');
    while ((await first()) !== '10.0.0.2:80');
  });

  it('are closed by their ID, with a reason of their own, and remembered', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'));
    const frontend = await tunnel(admin);
    const [open] = (await admin.client.tunnels({}, never)).tunnels;
    assert.ok(open !== undefined);
    assert.equal(
      (await admin.client.closeTunnel({ id: open.id, validateOnly: true }, never)).closeReason,
      undefined,
    );
    const closed = await admin.client.closeTunnel({ id: open.id, reason: 'stuck' }, never);
    assert.equal(closed.closeReason, 'closed-by-operator');
    assert.match((await frontend.next(PacketType.CLOSE_RSP)).error, /closed-by-operator/);
    const [ended] = (await admin.client.tunnels({ closed: true }, never)).tunnels;
    assert.deepEqual([ended?.id, ended?.closeReason, ended?.agent], [open.id, 'closed-by-operator', 'a']);
    await assert.rejects(
      admin.client.closeTunnel({ id: open.id }, never),
      refused('admin-not-found', /has ended already \(closed-by-operator\)/),
    );
    await assert.rejects(
      admin.client.closeTunnel({ id: '0' }, never),
      refused('admin-not-found', /no tunnel/),
    );
  });

  it('that never came to be are remembered with what their client was told', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'), 'connection refused');
    const frontend = admin.peers.frontend();
    frontend.send(dialRequest(9n, '10.0.0.9:80'));
    await frontend.next(PacketType.DIAL_RSP);
    const [failed] = (await admin.client.tunnels({ closed: true }, never)).tunnels;
    assert.deepEqual(
      [failed?.closeReason, failed?.error, failed?.dialId, failed?.connectId],
      ['dial-failed', 'connection refused', '9', 0],
    );
  });

  it('are idle since their last byte', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'));
    await tunnel(admin);
    await untilAsync(
      async () => (await admin.client.tunnels({ idleAtLeastSeconds: 0.1 }, never)).total === 1,
    );
    assert.equal((await admin.client.tunnels({ idleAtLeastSeconds: 3600 }, never)).total, 0);
  });
});

describe('a dry run of a dial', () => {
  it('says who would carry it and why, and changes nothing', async () => {
    const admin = await start({ strategies: ['destHost', 'default'] });
    await admin.peers.agent('a', { identifiers: 'host=node-a' });
    await admin.peers.agent('b');
    const seen = await admin.client.select({ target: 'NODE-A:10250' }, never);
    assert.deepEqual(
      [seen.choice, seen.agent, seen.strategy, seen.fallback, seen.server],
      ['only', 'a', 'destHost', false, 'server-1'],
    );
    assert.match(seen.reason, /a is the only ready agent of destHost \(node-a\)/);
    assert.deepEqual(seen.strategies[0]?.candidates, [{ id: 'a', state: 'ready' }]);
    assert.equal((await admin.client.server(never)).totals.dialsTotal, 0);
  });

  it('answers for agents that are assumed to be draining or gone', async () => {
    const admin = await start({ strategies: ['destHost', 'default'] });
    await admin.peers.agent('a', { identifiers: 'host=node-a' });
    await admin.peers.agent('b', { kind: 'go' });
    const drained = await admin.client.select({ target: 'node-a:1', assumeDrained: ['a'] }, never);
    assert.deepEqual([drained.agent, drained.strategy, drained.fallback], ['b', 'default', false]);
    assert.match(drained.strategies[0]?.candidates[0]?.excluded ?? '', /draining \(assumed\)/);
    const gone = await admin.client.select({ target: 'node-a:1', assumeGone: ['a', 'b'] }, never);
    assert.deepEqual([gone.choice, gone.agent, gone.reason], ['none', '', 'no agent is connected']);
    assert.deepEqual(gone.strategies[0]?.candidates, [
      { id: 'a', state: 'gone', excluded: 'assumed to be gone' },
    ]);
    const lonely = await admin.client.select({ target: 'node-a:1', assumeDrained: ['a', 'b'] }, never);
    assert.deepEqual([lonely.agent, lonely.fallback], ['a', true]);
    assert.equal((await agentOf(admin, 'a')).state, 'ready');
  });

  it('adds the last dials of that destination', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'), 'no route');
    for (const target of ['10.0.0.7:80', '10.0.0.8:80']) {
      const frontend = admin.peers.frontend();
      frontend.send(dialRequest(++lastDialId, target));
      await frontend.next(PacketType.DIAL_RSP);
    }
    const { history } = await admin.client.select({ target: '10.0.0.7:80', history: 10 }, never);
    assert.deepEqual(
      history.map(({ destination, error }) => [destination, error]),
      [['10.0.0.7:80', 'no route']],
    );
  });
});

describe('the history of a destination', () => {
  it('has tunnels that run among what ended, newest first', async () => {
    const admin = await start();
    answering(await admin.peers.agent('a'));
    await tunnel(admin, '10.0.0.7:80');
    await tunnel(admin, '10.0.0.7:80');
    await tunnel(admin, '10.0.0.8:80');
    const [first, second] = (await admin.client.tunnels({ destination: '10.0.0.7:80' }, never)).tunnels;
    await admin.client.closeTunnel({ id: first?.id ?? '', reason: 'test' }, never);
    const { history } = await admin.client.select({ target: '10.0.0.7:80', history: 10 }, never);
    assert.deepEqual(
      history.map(({ id, closeReason }) => [id, closeReason]),
      [
        [first?.id, 'closed-by-operator'],
        [second?.id, undefined],
      ],
    );
    const { history: newest } = await admin.client.select({ target: '10.0.0.7:80', history: 1 }, never);
    assert.deepEqual(
      newest.map(({ id }) => id),
      [first?.id],
    );
  });
});

describe('the events of an admin service', () => {
  it('are told from a time on, and end when they are not followed', async () => {
    const admin = await start();
    await admin.peers.agent('a');
    await admin.peers.agent('b');
    await admin.client.drain({ agentIds: ['a'] }, never);
    const events = await all(admin.client.events({ since: new Date(0), follow: false, agent: 'a' }, never));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['agent-connected', 'order-placed'],
    );
    assert.deepEqual([events[1]?.actor, events[1]?.serverId], ['ann@desk (claimed)', 'server-1']);
    assert.deepEqual(await all(admin.client.events({ follow: false }, never)), []);
  });

  it('are followed', async () => {
    const admin = await start();
    const stop = new AbortController();
    const types: string[] = [];
    const watching = (async () => {
      for await (const { type } of admin.client.events({ since: new Date(0), follow: true }, stop.signal)) {
        types.push(type);
        if (type === 'agent-disconnected') stop.abort();
      }
    })();
    const a = await admin.peers.agent('a');
    a.stream.abort(1, 'bye');
    await watching;
    assert.deepEqual(types, [
      'server-started',
      'agent-connected',
      'pool-out-of-ready',
      'all-out-of-ready',
      'agent-disconnected',
    ]);
  });
});

describe('the server of an admin service', () => {
  it('tells of itself, its totals, its certificate, and who calls', async () => {
    const admin = await start({ strategies: ['destHost', 'default'] }, { keepsOrders: true });
    answering(await admin.peers.agent('a'));
    await tunnel(admin);
    const server = await admin.client.server(never);
    assert.deepEqual([server.id, server.version, server.keepsOrders], ['server-1', 'test', true]);
    assert.deepEqual(server.unservedStrategies, ['destHost']);
    assert.deepEqual([server.totals.ready, server.totals.tunnels, server.totals.dialsTotal], [1, 1, 1]);
    assert.ok((server.dialP99Seconds ?? -1) > 0);
    assert.ok((server.nextCertificateExpiry?.getTime() ?? 0) > Date.now());
    assert.deepEqual(server.caller, { name: 'ann@desk', role: 'operator' });
  });
});

describe('the audit of an admin service', () => {
  it('goes on in the log when its disk is full, and says so once', async () => {
    const admin = await start({}, { auditLog: '/dev/full' });
    await admin.peers.agent('a');
    await admin.peers.agent('b');
    const changed = async (): Promise<string | undefined> =>
      (await admin.client.drain({ agentIds: ['a'], reason: 'disk' }, never))[0]?.change;
    assert.equal(await changed(), 'placed');
    const warnings = (): number =>
      admin.lines.all.filter((line) => line.includes('the audit log cannot be written')).length;
    await until(() => warnings() === 1);
    assert.equal(await changed(), 'unchanged');
    await admin.service.close();
    assert.equal(warnings(), 1);
    assert.equal(admin.lines.all.filter((line) => line.includes('Admin change')).length, 2);
  });

  it('has each change once, with actor and result, and refusals, in log and file', async () => {
    directory = mkdtempSync(join(tmpdir(), 'kts-audit-'));
    const file = join(directory, 'audit.log');
    const admin = await start({}, { auditLog: file });
    await admin.peers.agent('a');
    await admin.peers.agent('b');
    await admin.client.drain({ agentIds: ['a'], reason: 'disk' }, never);
    await admin.client.drain({ agentIds: ['a'] }, never);
    await assert.rejects(admin.client.drain({ agentIds: ['b'] }, never));
    await admin.client.undrain({ agentIds: ['a'], validateOnly: true }, never);
    const logged = admin.lines.all.filter((line) => line.includes('Admin change'));
    assert.equal(logged.length, 4);
    await admin.service.close();
    const entries = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      entries.map(({ method, actor, actorClaimed, result }) => [method, actor, actorClaimed, result]),
      [
        ['Drain', 'ann@desk', true, 'done'],
        ['Drain', 'ann@desk', true, 'unchanged'],
        ['Drain', 'ann@desk', true, 'drain-refused'],
        ['Undrain', 'ann@desk', true, 'validated'],
      ],
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });
});

async function all(events: AsyncIterable<AdminEvent>): Promise<AdminEvent[]> {
  const seen: AdminEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

async function untilAsync(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setImmediate(resolve));
}

function until(done: () => boolean): Promise<void> {
  return untilAsync(() => Promise.resolve(done()));
}
