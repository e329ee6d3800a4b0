import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openAdminClient } from '../../src/proxy/admin/client/open-admin-client.ts';
import { Balancer } from '../peers/balancer.ts';
import { Pki } from '../peers/pki.ts';
import { type RealAgent, startRealAgent } from '../peers/real-agent.ts';
import { ServerProcess } from '../peers/server-process.ts';
import { TopTerminal } from './top-terminal.ts';

const AGENTS = ['node-a', 'node-b'];

/** One story on one screen: each test begins where the one before it ended. */
describe('top with two servers that are processes', () => {
  const pki = new Pki();
  const servers: ServerProcess[] = [];
  const agents: RealAgent[] = [];
  let balancer: Balancer;
  let top: TopTerminal;

  before(async () => {
    const ca = await pki.authority('CA');
    const place = { directory: pki.directory, leaf: await pki.server(ca), serverCount: 2 };
    servers.push(...(await Promise.all(['cp-1', 'cp-2'].map((id) => ServerProcess.start(id, place)))));
    balancer = await Balancer.start(servers.map(({ agentPort }) => agentPort));
    const times = { syncIntervalMs: 50, syncIntervalCapMs: 100, statusIntervalMs: 5 };
    for (const id of AGENTS) {
      const via = { port: balancer.port, caFile: ca.certFile };
      agents.push(await startRealAgent(undefined, id, { identifiers: `host=${id}.localhost`, times, via }));
    }
    const addresses = servers.map(({ adminAddress }) => adminAddress).join(',');
    top = new TopTerminal(['top', '--admin', addresses], { columns: 110, rows: 24 });
    await top.shows(/node-a[\s\S]*node-b[\s\S]*q quit$/);
  });
  after(async () => {
    await top?.close();
    for (const server of servers) await server.kill();
    for (const agent of agents) await agent.stop();
    balancer?.close();
    pki.remove();
  });

  const server = (id: string): ServerProcess => servers.find((one) => one.id === id) as ServerProcess;

  /** What a server says that it is now. */
  async function epochOf(id: string): Promise<string> {
    const client = openAdminClient(server(id).adminAddress, { actor: 'test' });
    try {
      return (await client.server(new AbortController().signal)).epoch;
    } finally {
      client.close();
    }
  }

  it('shows them as one, with agents that are connected to both', async () => {
    await top.shows(/ 2\/2 servers .* live \d+s$/m);
    await top.shows(/ready +node-a +2\/2[\s\S]*ready +node-b +2\/2/);
  });

  it('switches between all and each with [ and ]', async () => {
    await top.press(']');
    await top.shows(/^ .*cp-1 .*server 1\/2/);
    await top.press(']');
    await top.shows(/^ .*cp-2 .*server 2\/2/);
    await top.press(']');
    await top.shows(/^ .* 2\/2 servers/);
    await top.press('[');
    await top.shows(/^ .*cp-2 .*server 2\/2/);
    await top.press(']');
    await top.shows(/^ .* 2\/2 servers/);
  });

  it('says that one of them is gone after kill -9, and goes on with the other', async () => {
    await server('cp-2').kill();
    await top.shows(/ 1\/2 servers \(partial\) .* 1 of 2 not answering$/m);
    await top.shows(/ready .*node-a +1\/2/);
  });

  it('changes nothing while one is gone, and says how to go on without it', async () => {
    await top.select('node-a', AGENTS);
    await top.press('d');
    await top.shows(/Drain node-a[\s\S]*nothing was changed: cp-2: [\s\S]*\[ \]/);
    await top.press('<escape>');
    await top.shows(/q quit$/);
    await top.press(']');
    await top.shows(/^ .*cp-1 .*server 1\/2/);
    await top.press('d');
    await top.shows(/Drain node-a[\s\S]*New dials: /);
    await top.confirm('drain');
    await top.shows(/node-a is draining on 1\/2 servers: 0 tunnels left$/);
    await top.press('[');
    await top.shows(/1\/2 servers \(partial\)/);
  });

  it('takes it back when it returns as another process, which hears of the order from the agent', async () => {
    const before = await epochOf('cp-1');
    await server('cp-2').again();
    await top.shows(/ 2\/2 servers .* live \d+s$/m);
    await top.shows(/drained +node-a +2\/2/);
    assert.equal(await epochOf('cp-1'), before);
    await top.press('[');
    await top.shows(/^ .*cp-2 .* up \ds .*[\s\S]*drained +node-a +2\/2/);
    await top.press(']');
    await top.shows(/ 2\/2 servers /);
  });

  it('undrains on both', async () => {
    await top.select('node-a', AGENTS);
    await top.press('u');
    await top.shows(/Undrain node-a\?/);
    await top.confirm('undrain');
    await top.shows(/node-a is undrained/);
    await top.shows(/ 2 ready {2}0 draining {2}0 drained/);
  });

  it('keeps its picture after kill -9 of all, confirms nothing, and is whole again with their return', async () => {
    const before = await epochOf('cp-1');
    await Promise.all(servers.map((one) => one.kill()));
    const lost = await top.shows(/ 0\/2 servers .* stale \d+s, retrying/);
    assert.match(lost, /ready +node-a[\s\S]*ready +node-b/);
    await top.press('d');
    await top.shows(/No server answers: nothing can be changed now/);
    await top.press('<tab>');
    await top.shows(/\[ drain \]/);
    await top.press('<enter>');
    await top.shows(/no server answers: nothing can be changed[\s\S]*\[ drain \]/);
    await top.press('<escape>');
    await Promise.all(servers.map((one) => one.again()));
    await top.shows(/ 2\/2 servers .* live \d+s$/m);
    await top.shows(/ready +node-a +2\/2[\s\S]*ready +node-b +2\/2/);
    assert.notEqual(await epochOf('cp-1'), before);
  });

  it('is left with q, and nothing of it stays', async () => {
    await top.press('q');
    assert.equal(await top.exited, 0);
    assert.ok(!top.screen.alternate, 'the alternate screen was left');
    assert.equal(top.screen.text.trim(), '');
    assert.throws(() => process.kill(top.pid, 0), { code: 'ESRCH' });
  });
});
