import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
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
  let tunnel: Socket;
  let top: TopTerminal | undefined;

  const open = (): Promise<AdminService> =>
    openAdminService(
      server.server,
      { socket: { kind: 'path', path }, auditLog: '', keepsOrders: false, sampleMs: 100 },
      silentLog,
    );

  before(async () => {
    server = await TestServer.start({ strategies: ['destHost', 'default'] });
    service = await open();
    destination = await DestinationServer.start();
    for (const id of AGENTS) {
      agents.push(await startRealAgent(server, id, { identifiers: `host=${id}.localhost` }));
    }
    // A tunnel through node-b, which stays until it is closed.
    tunnel = await server.connectSocket();
    const answered = new Promise((resolve) => tunnel.once('data', resolve));
    const target = `node-b.localhost:${destination.port}`;
    tunnel.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    assert.match(String(await answered), /^HTTP\/1\.[01] 200/);
  });
  after(async () => {
    await top?.close();
    for (const agent of agents) await agent.stop();
    await destination.close();
    await service.close();
    await server.close();
  });
  // One screen for all, because starting it is what takes time; a new one after a test that left it somewhere else.
  beforeEach(async () => {
    const home = / live \d+s$[\s\S]*STATE[\s\S]*node-a[\s\S]*q quit$/m;
    try {
      await top?.press('g');
      if (top !== undefined) return void (await top.shows(home, AT_HOME_MS));
    } catch {
      await top?.close();
    }
    top = new TopTerminal(['top', '--admin', `unix://${path}`], { columns: 110, rows: 30 });
    await top.shows(home);
  });

  const screen = (): TopTerminal => top as TopTerminal;

  /** Leaves a view, and waits for it: what follows an escape at once makes another key of it. */
  async function back(): Promise<void> {
    await screen().press('<escape>');
    await screen().shows(/ STATE /);
  }

  const select = (id: string): Promise<void> => screen().select(id, AGENTS);

  it('lists agents and what runs through them, and filters', async () => {
    const top = screen();
    assert.match(top.screen.text, /3 ready {2}0 draining {2}0 drained {2}0 gone {3}1 tunnel/);
    assert.match(top.screen.text, /● ready +node-b +1\/1 +host=node-b/);
    await top.press('/node-c');
    await top.shows(/1 of 3/);
    await top.press('<enter>');
    await top.shows(/> ● ready +node-c/);
    assert.doesNotMatch(top.screen.text, /ready +node-a/);
    await top.press('<escape>');
    await top.shows(/ready +node-a/);
  });

  it('drains with a dialog that says what finishes and who takes over, and undrains', async () => {
    const top = screen();
    await select('node-b');
    await top.press('d');
    const asked = await top.shows(/Drain node-b[\s\S]*New dials: [\s\S]*\[ Cancel \]/);
    assert.match(asked, /1 tunnel finishes there, the oldest \d+s to node-b\.localhost:\d+/);
    // Cancel, then the reason.
    await top.press('<tab><tab>kernel patch<tab><tab><tab><tab><tab>');
    await top.shows(/\[ drain \]/);
    await top.press('<enter>');
    await top.shows(/node-b is draining .*: 1 tunnel left/);
    assert.equal(server.server.drain.orderOf('node-b')?.reason, 'kernel patch');
    await top.shows(/◐ DRAINING +1 \(\d+s\) +node-b/);
    await top.press('gu');
    await top.shows(/Undrain node-b\?[\s\S]*kernel patch/);
    await top.confirm('undrain');
    await top.shows(/node-b is undrained/);
    assert.equal(server.server.drain.orderOf('node-b'), undefined);
    await top.shows(/● ready +node-b/);
  });

  it('drains past the guard with the number of tunnels typed, and not without', async () => {
    const top = screen();
    await top.press('   d');
    await top.shows(/Drain 3 agents\?[\s\S]*Refused: [\s\S]*Type the number of tunnels, 1/);
    await top.confirm('drain');
    await top.shows(/type the number of tunnels: 1/);
    assert.deepEqual(server.server.drain.orders(), []);
    await top.press('<shift-tab><shift-tab>1<tab><tab>');
    await top.shows(/tunnels, 1: 1 [\s\S]*\[ drain \]/);
    await top.press('<enter>');
    await top.shows(/3 agents are draining: 1 tunnel left/);
    const ids = server.server.drain.orders().map((order) => order.agentId);
    assert.deepEqual(ids.sort(), ['node-a', 'node-b', 'node-c']);
    await top.shows(/0 ready {2}1 draining {2}2 drained/);
    await top.press('g   u');
    await top.shows(/Undrain 3 agents\?/);
    await top.confirm('undrain');
    await top.shows(/3 agents are undrained/);
    assert.deepEqual(server.server.drain.orders(), []);
    await top.shows(/3 ready {2}0 draining {2}0 drained/);
  });

  it('tries a destination while agents drain', async () => {
    const top = screen();
    await select('node-b');
    await top.press('t');
    await top.shows(/Try a destination: {2}node-b\.localhost/);
    await top.shows(/destHost +node-b\.localhost -> node-b +<= chosen here/);
    server.server.drain.drain({ agentIds: ['node-b'], actor: 'test', actorClaimed: false });
    await top.shows(/node-b ◐ DRAINING: [\s\S]*default[\s\S]*<= chosen here/);
    server.server.drain.undrain({ agentIds: ['node-b'], actor: 'test', actorClaimed: false });
    await top.shows(/=> node-b/);
    await back();
  });

  it('shows an agent in full, and events', async () => {
    const top = screen();
    await select('node-b');
    await top.press('<enter>');
    await top.shows(/Streams: 1[\s\S]*Tunnels: 1[\s\S]*node-b\.localhost:\d+/);
    await back();
    await top.press('E');
    await top.shows(/Events of all agents[\s\S]*agent-connected/);
    await back();
  });

  it('closes a tunnel, and says with what reason it ended', async () => {
    const top = screen();
    const ended = once(tunnel.resume(), 'end');
    await top.press('A');
    await top.shows(/Tunnels of all agents: 1 tunnel/);
    await top.press('x');
    await top.shows(/Close the tunnel/);
    assert.equal(destination.open.size, 1);
    await top.confirm('close it');
    await top.shows(/the tunnel to node-b\.localhost:\d+ is closed$/);
    await ended;
    await top.shows(/Tunnels of all agents: 0 tunnels/);
    await back();
    await select('node-b');
    await top.press('<enter>');
    await top.shows(/node-b\.localhost:\d+ .*closed-by-operator/);
    await back();
  });

  it('is left with q, and gives the terminal back', async () => {
    const top = screen();
    await top.press('q');
    assert.equal(await top.exited, 0);
    assert.ok(!top.screen.alternate, 'the alternate screen was left');
  });
});

const AGENTS = ['node-a', 'node-b', 'node-c'];
const AT_HOME_MS = 3_000;
