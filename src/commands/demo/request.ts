import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { dialTunnel } from '../../proxy/client/dial-tunnel.ts';
import { tunnelLost } from '../../proxy/client/tunnel-faults.ts';
import type { TunnelServer } from '../../proxy/client/tunnel-server.ts';
import type { Scene } from './scene.ts';

const TIMEOUT_MS = 10_000;

/** What came of a request through the tunnel. */
export interface Answer {
  /** The agent that carried it. */
  readonly agentId: string;
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
}

export interface RequestOptions {
  readonly via: TunnelServer;
  /** The target by the name that the agent is asked to dial. */
  readonly host: string;
  readonly path: string;
  readonly signal: AbortSignal;
  /** The tunnel stands, with that agent. */
  readonly onTunnel?: (agentId: string) => void;
  /** Sees the body. */
  readonly onBody?: (chunk: Buffer) => void;
}

/** Dials the target and asks for one page. @throws Fault */
export async function requestThrough(scene: Scene, options: RequestOptions): Promise<Answer> {
  const { via, host, path, signal } = options;
  const address = `${host}:${scene.target.port}`;
  const startMs = performance.now();
  const tunnel = await dialTunnel({
    server: via,
    mode: 'http-connect',
    address,
    signal,
    timeoutMs: TIMEOUT_MS,
  });
  try {
    const agentId = servingAgent(scene, tunnel as Socket, address);
    options.onTunnel?.(agentId);
    const { status, bytes } = await get(tunnel, address, path, options);
    return { agentId, status, bytes, ms: performance.now() - startMs };
  } catch (error) {
    throw tunnelLost(error, address);
  } finally {
    tunnel.destroy();
  }
}

/** Which agent has the tunnel. Clients of a Unix socket have no address: there the destination tells. */
function servingAgent(scene: Scene, socket: Socket, address: string): string {
  const client = socket.localPort === undefined ? 'unix' : `${socket.localAddress}:${socket.localPort}`;
  for (const backend of scene.server.backends.all()) {
    for (const tunnel of backend.tunnels.values()) {
      if (tunnel.frontend.client === client && tunnel.address === address) return backend.agentId;
    }
  }
  return 'unknown';
}

function get(
  tunnel: Duplex,
  host: string,
  path: string,
  { signal, onBody }: RequestOptions,
): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const asking = request({ path, headers: { host }, createConnection: () => tunnel, signal });
    asking.on('error', reject).on('response', (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        onBody?.(chunk);
      });
      response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, bytes }));
    });
    asking.end();
  });
}
