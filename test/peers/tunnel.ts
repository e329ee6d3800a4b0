import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { dialTunnel } from '../../src/proxy/client/dial-tunnel.ts';
import type { TunnelMode, TunnelServer } from '../../src/proxy/client/tunnel-server.ts';
import { type RealAgent, type RealAgentOptions, startRealAgent } from './real-agent.ts';
import { TestServer, type TestServerOptions } from './test-server.ts';

export interface TunnelOptions {
  server?: TestServerOptions;
  /** Agent ID and options; one agent `a` by default. */
  agents?: Record<string, RealAgentOptions>;
}

/** A server and agents of ours on loopback, and our own client to dial through them. */
export interface TestTunnel {
  readonly server: TestServer;
  readonly agents: ReadonlyMap<string, RealAgent>;
  /** The server's Unix socket for that mode. */
  frontend(mode: TunnelMode): TunnelServer;
  dial(mode: TunnelMode, address: string): Promise<Duplex>;
  close(): Promise<void>;
}

/** Resolves when every agent may be chosen. */
export async function startTunnel(options: TunnelOptions = {}): Promise<TestTunnel> {
  const { agents: wanted = { a: {} } } = options;
  const server = await TestServer.start(options.server);
  const agents = new Map<string, RealAgent>();
  for (const [id, agentOptions] of Object.entries(wanted)) {
    agents.set(id, await startRealAgent(server, id, agentOptions));
  }
  const frontend = (mode: TunnelMode): TunnelServer => ({
    kind: 'unix',
    path: mode === 'grpc' ? server.grpcPath : server.connectPath,
  });
  return {
    server,
    agents,
    frontend,
    dial: (mode, address) =>
      dialTunnel({
        server: frontend(mode),
        mode,
        address,
        signal: new AbortController().signal,
        timeoutMs: 20_000,
      }),
    close: async () => {
      for (const agent of agents.values()) await agent.stop();
      await server.close();
    },
  };
}

/** A destination on loopback. */
export interface Destination {
  readonly address: string;
  close(): void;
}

/** Listens and hands over what it accepts, half-open capable. */
export async function startDestination(onConnection: (socket: Socket) => void): Promise<Destination> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/**
 * The address of a port on which nothing listens, nor will: a connection has it that lasts as long as the process. One
 * that is only free now may be the next test's listener.
 */
export async function unusedAddress(): Promise<string> {
  const server = createServer((socket) => socket.unref()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(client, 'connect');
  client.unref();
  server.close();
  return `127.0.0.1:${client.localPort}`;
}
