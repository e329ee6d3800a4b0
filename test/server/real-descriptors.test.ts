import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { it } from 'node:test';
import { readHead, received, requestConnect } from '../peers/connect-request.ts';
import { Pki } from '../peers/pki.ts';
import { startRealAgent } from '../peers/real-agent.ts';
import { ServerProcess } from '../peers/server-process.ts';
import { type Destination, startDestination } from '../peers/tunnel.ts';

const DESCRIPTORS = 160;
/** Elsewhere a process does not learn how many it has open. */
const linux = { skip: process.platform !== 'linux' };

/** A server process with few descriptors, an agent, and an echo behind it. */
async function withServer(run: (server: ServerProcess, echo: Destination) => Promise<void>): Promise<void> {
  const pki = new Pki();
  const ca = await pki.authority('test CA');
  const leaf = await pki.issue(ca, { commonName: 'server', dns: ['localhost'], ips: ['127.0.0.1'] });
  const place = { directory: pki.directory, leaf, serverCount: 1, descriptors: DESCRIPTORS };
  const server = await ServerProcess.start('few', place);
  const echo = await startDestination((socket) => socket.pipe(socket));
  const agent = await startRealAgent(undefined, 'a', {
    via: { port: server.agentPort, caFile: ca.certFile },
  });
  try {
    for (let status = ''; !status.includes(' 200 '); ) {
      const first = await dial(server, echo.address);
      status = first.status;
      first.socket.destroy();
    }
    await run(server, echo);
  } finally {
    await agent.stop();
    await server.kill();
    echo.close();
    pki.remove();
  }
}

async function open(target: NetConnectOpts): Promise<Socket> {
  const socket = connect(target);
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** The status line of the answer, and the tunnel. */
async function dial(server: ServerProcess, address: string): Promise<{ status: string; socket: Socket }> {
  const socket = await open({ path: server.connectPath });
  requestConnect(socket, address);
  return { status: (await readHead(socket)).split('\r\n')[0] ?? '', socket };
}

async function echoes(tunnel: Socket, word: string): Promise<void> {
  tunnel.write(word);
  let heard = '';
  while (heard.length < word.length) {
    const chunk: Buffer | null = tunnel.read();
    if (chunk === null) await once(tunnel, 'readable');
    else heard += chunk.toString();
  }
  assert.equal(heard, word);
}

it(
  'a flood of connections that ask for nothing, at any listener, takes no descriptor from tunnels and dials',
  linux,
  () =>
    withServer(async (server, echo) => {
      const { socket: tunnel } = await dial(server, echo.address);
      const tcp = (port: number): NetConnectOpts => ({ port, host: '127.0.0.1' });
      const listeners = [
        { path: server.connectPath },
        { path: server.adminPath },
        tcp(server.agentPort),
        tcp(server.healthPort),
        tcp(server.adminPort),
      ];
      // All at once: what one listener's flood leaves is not for another's.
      const floods: Socket[] = [];
      for (const listener of listeners) {
        floods.push(...(await Promise.all(Array.from({ length: 200 }, () => open(listener)))));
        await echoes(tunnel, 'as before');
        const next = await dial(server, echo.address);
        assert.match(next.status, / 200 /);
        next.socket.destroy();
        const healthy = await fetch(`http://127.0.0.1:${server.healthPort}/healthz`);
        assert.equal(healthy.status, 200);
        await healthy.text();
      }
      const said = server.lines.all.filter((line) => line.includes('ask for nothing'));
      assert.equal(said.length, listeners.length);
      assert.ok(!server.lines.all.some((line) => line.includes('TLS connection')), 'nobody else is blamed');
      for (const socket of floods) socket.destroy();
      tunnel.destroy();
    }),
);

it(
  'tunnels up to the last descriptor get 503 and a line, those before go on, and room is found again',
  linux,
  () =>
    withServer(async (server, echo) => {
      const tunnels: Socket[] = [];
      const said = (): number =>
        server.lines.all.filter((line) => line.includes('Out of file descriptors')).length;
      let refused = 0;
      while (refused < 20 || said() === 0) {
        const { status, socket } = await dial(server, echo.address);
        if (status.includes(' 200 ')) tunnels.push(socket);
        else {
          assert.match(status, / 503 /);
          assert.match(String(await received(socket)), /too many open files/);
          refused++;
        }
      }
      assert.ok(tunnels.length > DESCRIPTORS / 2, `${tunnels.length} tunnels`);
      for (const tunnel of tunnels) await echoes(tunnel, 'still here');
      assert.equal(said(), 1);
      for (const tunnel of tunnels) tunnel.destroy();
      for (let status = ''; !status.includes(' 200 '); ) {
        const again = await dial(server, echo.address);
        status = again.status;
        again.socket.destroy();
      }
    }),
);
