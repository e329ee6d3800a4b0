import { randomBytes } from 'node:crypto';
import { normalize } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { channelCredentials } from '../ops/channel-credentials.ts';
import type { Fault } from '../ops/fault.ts';
import { connectFault } from '../ops/tls-errors.ts';
import { checkUnixPath } from '../ops/unix-path.ts';
import { WatchedConnections } from '../ops/watched-connections.ts';
import { clientOptions } from '../wire/client-options.ts';
import { openPublicPacketStream } from '../wire/client-stream.ts';
import type { StreamEnd } from '../wire/packet-stream.ts';
import { PROXY_PATH } from '../wire/services.ts';
import type { DialParts } from './dial-step.ts';
import { PacketTunnel } from './packet-tunnel.ts';
import { securedText } from './server-socket.ts';
import { badAnswer, dialRefused } from './tunnel-faults.ts';
import { serverText, type TunnelServer } from './tunnel-server.ts';

const UNAVAILABLE = 14;
const CLOSE_TIMEOUT_MS = 10_000;
/** As long as server and agent keep what is left for a slow reader. */
const CLOSE_TAIL_MS = 600_000;
/** Copies within one machine need no more ahead. */
const UNIX_WINDOW_BYTES = 64 * 1024;

/**
 * Dials by gRPC, on a connection of its own.
 * @throws Fault
 */
export async function dialByGrpc(server: TunnelServer, parts: DialParts): Promise<PacketTunnel> {
  const { address, signal, onStep } = parts;
  const where = serverText(server);
  if (server.kind === 'unix') checkUnixPath(server.path, 'the socket path');
  onStep({ name: 'connecting', text: `connecting to ${where}` });
  signal.throwIfAborted();
  let lastError: unknown;
  let ready = false;
  const connections = watchConnections(server, onStep, (error) => {
    lastError = error;
  });
  const client = new Client(target(server), connections.credentials, {
    ...clientOptions(server.kind === 'unix' ? { windowBytes: UNIX_WINDOW_BYTES } : {}),
    ...(server.kind === 'unix' ? { 'grpc.default_authority': 'localhost' } : {}),
  });
  client.waitForReady(Number.POSITIVE_INFINITY, (error) => {
    if (error !== undefined) return;
    ready = true;
    onStep({ name: 'requested', text: `sent DIAL_REQ ${address}` });
  });
  const tunnel = new PacketTunnel({
    // Go servers send no headers before DIAL_RSP, so the stream has to be there before they come.
    stream: openPublicPacketStream(client, PROXY_PATH, new Metadata()),
    dialId: randomBytes(8).readBigUInt64BE() >> 1n || 1n,
    address,
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
    closeTailMs: CLOSE_TAIL_MS,
    refused: (error) => dialRefused(where, address, error),
    ended: (end) => endedFault(end, lastError, where),
    release: () => {
      client.close();
      if (ready) connections.endWithin(CLOSE_TIMEOUT_MS);
      else connections.destroy();
    },
  });
  const giveUp = (): void => {
    tunnel.destroy(signal.reason);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await tunnel.answered;
    onStep({ name: 'answered', text: 'answer: DIAL_RSP without error' });
    return tunnel;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function target(server: TunnelServer): string {
  return server.kind === 'unix' ? `unix:${normalize(server.path)}` : serverText(server);
}

function watchConnections(
  server: TunnelServer,
  onStep: DialParts['onStep'],
  onError: (error: unknown) => void,
): WatchedConnections {
  if (server.kind === 'unix') {
    return new WatchedConnections(credentials.createInsecure(), () =>
      onStep({ name: 'connected', text: 'connected' }),
    );
  }
  return new WatchedConnections(channelCredentials(server.tls, { onError }), (socket) =>
    onStep({ name: 'secured', text: securedText(socket as TLSSocket) }),
  );
}

/** Without an answer the call ended: no connection came to be, or the server speaks something else. */
function endedFault(end: StreamEnd, lastError: unknown, where: string): Fault {
  if (lastError !== undefined) return connectFault(lastError, where);
  const { code, cause, details } = end;
  if (code !== UNAVAILABLE || cause !== 'cancelled') {
    return badAnswer(where, `the call ended with gRPC status ${code} (${details})`);
  }
  if (details.includes('Protocol error')) return badAnswer(where, 'it does not speak gRPC');
  return connectFault(details, where);
}
