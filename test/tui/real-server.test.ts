import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type AdminService, openAdminService } from '../../src/proxy/admin/service/open-admin-service.ts';
import { silentLog } from '../../src/proxy/ops/log.ts';
import { DestinationServer } from '../peers/destination-server.ts';
import { type RealAgent, startRealAgent } from '../peers/real-agent.ts';
import { TestServer } from '../peers/test-server.ts';
import { TopTerminal } from './top-terminal.ts';

describe('top with a real server and real agents', () => {
  const path = join(tmpdir(), `kts-top-${randomBytes(6).toString('hex')}.sock`);
  let server: TestServer;
  let service: AdminService;
  let destination: DestinationServer;
  const agents: RealAgent[] = [];
  let top: TopTerminal;

  const open = (): Promise<AdminService> =>
    openAdminService(
      server.server,
      { socket: { kind: 'path', path }, auditLog: '', keepsOrders: false },
      silentLog,
    );

  before(async () => {
    server = await TestServer.start({ strategies: ['destHost', 'default'] });
    service = await open();
    destination = await DestinationServer.start();
    for (const id of ['node-a', 'node-b', 'node-c']) {
      agents.push(await startRealAgent(server, id, { identifiers: `host=${id}.localhost` }));
    }
    // A tunnel through node-b, which stays.
    const socket = await server.connectSocket();
    const answered = new Promise((resolve) => socket.once('data', resolve));
    const target = `node-b.localhost:${destination.port}`;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    assert.match(String(await answered), /^HTTP\/1\.[01] 200/);
  });
  after(async () => {
    for (const agent of agents) await agent.stop();
    await destination.close();
    await service.close();
    await server.close();
  });
  afterEach(() => top?.close());

  async function start(): Promise<TopTerminal> {
    top = new TopTerminal(['top', '--admin', `unix://${path}`], { columns: 110, rows: 30 });
    await top.shows(/node-a[\s\S]*node-b[\s\S]*node-c[\s\S]*q quit/);
    return top;
  }

  async function quit(): Promise<void> {
    await top.press('q');
    assert.equal(await top.exited, 0);
    assert.ok(!top.screen.alternate, 'the alternate screen was left');
  }

  it('lists agents and what runs through them, and filters', async () => {
    await start();
    assert.match(top.screen.text, /3 ready {2}0 draining {2}0 drained {2}0 gone {3}1 tunnel/);
    assert.match(top.screen.text, /● ready +node-b +1\/1 +host=node-b/);
    await top.press('/node-c');
    await top.shows(/1 of 3/);
    await top.press('<enter>');
    await top.shows(/> ● ready +node-c/);
    assert.doesNotMatch(top.screen.text, /ready +node-a/);
    await top.press('<escape>');
    await top.shows(/ready +node-a/);
    await quit();
  });

  it('drains with a dialog that says what finishes and who takes over, and undrains', async () => {
    await start();
    await top.press('jd');
    const asked = await top.shows(/Drain node-b[\s\S]*New dials: [\s\S]*\[ Cancel \]/);
    assert.match(asked, /1 tunnel finishes there/);
    // Cancel, then the reason.
    await top.press('<tab><tab>kernel patch<tab><tab><tab><tab><tab><enter>');
    await top.shows(/node-b is draining .*: 1 tunnel left/);
    await top.shows(/◐ DRAINING +1 \(\d+s\) +node-b/);
    assert.equal(server.server.drain.orderOf('node-b')?.reason, 'kernel patch');
    await top.press('gu');
    await top.shows(/Undrain node-b\?[\s\S]*kernel patch/);
    await top.press('<tab>');
    await top.shows(/\[ undrain \]/);
    await top.press('<enter>');
    await top.shows(/node-b is undrained/);
    assert.equal(server.server.drain.orderOf('node-b'), undefined);
    await top.shows(/● ready +node-b/);
    await quit();
  });

  it('asks for the number of tunnels where the guard refuses, and forces then', async () => {
    await start();
    await top.press('   d');
    await top.shows(/Drain 3 agents\?[\s\S]*Refused: [\s\S]*Type the number of tunnels, 1/);
    await top.press('<tab><enter>');
    await top.shows(/type the number of tunnels: 1/);
    assert.deepEqual(server.server.drain.orders(), []);
    await top.press('<escape>');
    await top.shows(/q quit/);
    await quit();
  });

  it('tries a destination while agents drain', async () => {
    await start();
    await top.press('jt');
    await top.shows(/Try a destination: {2}node-b\.localhost/);
    await top.shows(/destHost +node-b\.localhost -> node-b +<= chosen here/);
    server.server.drain.drain({ agentIds: ['node-b'], actor: 'test', actorClaimed: false });
    await top.shows(/node-b ◐ DRAINING: [\s\S]*default[\s\S]*<= chosen here/);
    server.server.drain.undrain({ agentIds: ['node-b'], actor: 'test', actorClaimed: false });
    await top.shows(/=> node-b/);
    await top.press('<escape>');
    await quit();
  });

  it('shows an agent in full, tunnels and events', async () => {
    await start();
    await top.press('j<enter>');
    await top.shows(/Streams: 1[\s\S]*Tunnels: 1[\s\S]*node-b\.localhost:\d+/);
    await top.press('<escape>E');
    await top.shows(/Events of all agents[\s\S]*agent-connected/);
    await top.press('<escape>A');
    await top.shows(/Tunnels of all agents: 1 tunnel/);
    await top.press('x');
    await top.shows(/Close the tunnel/);
    await top.press('<escape><escape>');
    await top.shows(/STATE/);
    await quit();
  });

  it('finds a restarted server again, with its new epoch', async () => {
    await start();
    await service.close();
    await top.shows(/stale \d+s, retrying/);
    service = await open();
    await top.shows(/ live$/m);
    await quit();
  });
});
