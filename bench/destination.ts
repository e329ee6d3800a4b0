import { createServer, type Socket } from 'node:net';
import { listenStub } from './grpc-stub.ts';
import {
  DESTINATION_HOSTS,
  type DestinationMode,
  type DestinationPorts,
  nowMs,
  type Reading,
} from './messages.ts';
import { patternView } from './pattern.ts';
import { freePort } from './ports.ts';
import { answerCalls } from './worker.ts';

/** The process behind the agent: sinks, sources and echoes on all destination addresses. */

const BLOCK = Buffer.alloc(256 * 1024, 'k');

let received = 0;
let supplied = 0;
const open = new Set<Socket>();
let onIdle: (() => void) | undefined;

const behaviours: Record<DestinationMode, (socket: Socket) => void> = {
  sink: (socket) => {
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
  },
  echo: (socket) => {
    socket.on('data', (chunk) => socket.write(chunk));
  },
  source: (socket) => {
    let request = '';
    socket.on('data', (chunk) => {
      if (request.endsWith('\n')) return;
      request += chunk.toString('latin1');
      if (request.endsWith('\n')) supply(socket, request);
    });
    // An endless source would answer the peer's end with more bytes, for ever.
    socket.on('end', () => socket.destroy());
  },
  // Accepted paused, and never resumed.
  stall: () => {},
};

function supply(socket: Socket, request: string): void {
  const [bytes, seed] = request.split(' ').map(Number);
  let left = bytes || Number.POSITIVE_INFINITY;
  let at = 0;
  const more = (): void => {
    while (left > 0 && !socket.destroyed) {
      const whole = seed === undefined ? BLOCK : patternView(seed, at, BLOCK.length);
      const block = left < whole.length ? whole.subarray(0, left) : whole;
      left -= block.length;
      at += block.length;
      supplied += block.length;
      if (!socket.write(block)) break;
    }
    if (left <= 0) socket.end();
  };
  socket.on('drain', more);
  more();
}

/** Resolves when no connection is open. */
async function untilIdle(): Promise<Reading> {
  if (open.size > 0) {
    await new Promise<void>((resolve) => {
      onIdle = resolve;
    });
  }
  onIdle = undefined;
  return { count: received, atMs: nowMs() };
}

/** Counts an open connection, and tells when the last one is closed. */
function count(socket: Socket): void {
  open.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => {
    open.delete(socket);
    if (open.size === 0) onIdle?.();
  });
}

async function listen(mode: DestinationMode): Promise<number> {
  const port = await freePort(DESTINATION_HOSTS);
  await Promise.all(
    DESTINATION_HOSTS.map(async (host) => {
      const server = createServer({ noDelay: true, pauseOnConnect: mode === 'stall' }, (socket) => {
        count(socket);
        behaviours[mode](socket);
      });
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port, host, backlog: 511 }, resolve);
      });
    }),
  );
  return port;
}

let ports: DestinationPorts = { sink: 0, source: 0, echo: 0, stall: 0 };

answerCalls({
  listen: async (): Promise<DestinationPorts> => {
    ports = {
      sink: await listen('sink'),
      source: await listen('source'),
      echo: await listen('echo'),
      stall: await listen('stall'),
    };
    return ports;
  },
  listenStub: async (socketPath: string): Promise<void> => {
    const onReceived = (bytes: number): void => {
      received += bytes;
    };
    await listenStub(socketPath, ports, onReceived, count);
  },
  count: (): Reading => ({ count: received, atMs: nowMs() }),
  supplied: (): Reading => ({ count: supplied, atMs: nowMs() }),
  idle: untilIdle,
  /** Cuts what is left of a cell that failed, so that the next one does not pay for it. */
  reset: async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    await untilIdle();
  },
});
