import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { ServerCount, type ServerCountSource } from '../../src/proxy/agent/server-count.ts';
import { Balancer } from '../peers/balancer.ts';
import { ScriptedServer } from '../peers/scripted-server.ts';
import { noSocketsLeft, until } from '../peers/sockets-left.ts';
import { TestAgent } from '../peers/test-agent.ts';

describe('the server count', () => {
  const cases: [string, ServerCountSource | undefined, said: number, leases: number, value: number][] = [
    ['without Leases is what servers say', undefined, 3, 5, 3],
    ['with Leases is their number alone', 'default', 3, 2, 2],
    ['with Leases and max is the larger one: Leases', 'max', 3, 5, 5],
    ['with Leases and max is the larger one: what servers say', 'max', 3, 1, 3],
    ['is at least one', 'default', 0, 0, 1],
    ['is bounded', 'max', 1_000_000, 1, 1_000],
  ];
  for (const [name, source, said, leases, value] of cases) {
    it(name, () => {
      const count = new ServerCount(source);
      count.said(said);
      count.counted(leases);
      assert.equal(count.value, value);
    });
  }

  it('is one before anything is known', () => {
    for (const source of [undefined, 'default', 'max'] as const) {
      assert.equal(new ServerCount(source).value, 1);
    }
  });
});

test('an agent connects to further servers as soon as their Leases are counted, and keeps what it has', async () => {
  const servers: ScriptedServer[] = [];
  for (const serverId of ['one', 'two', 'three']) {
    // What servers say does not count beside Leases.
    servers.push(await ScriptedServer.start({ serverId, serverCount: 1 }, servers[0]));
  }
  const balancer = await Balancer.start(servers.map((server) => server.port));
  const agent = new TestAgent(servers[0] as ScriptedServer, { countLeases: 'default', port: balancer.port });
  const { servers: set } = agent.agent;
  try {
    await until(() => set.links.size === 1, 'a stream');
    set.countedLeases(3);
    await until(() => set.links.size === 3, 'three streams');
    set.countedLeases(1);
    assert.equal(set.serverCount, 1);
    assert.equal(set.links.size, 3);
  } finally {
    await agent.stop();
    balancer.close();
    for (const server of servers.reverse()) await server.close();
  }
  await noSocketsLeft();
});
