import { createHash, type Hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { openBlackHole } from '../peers/black-hole.ts';
import { deferred } from '../peers/deferred.ts';
import { startDestination, unusedAddress } from '../peers/tunnel.ts';

const GREETING = '220 I speak first\r\n';
const SYN_SENT = '02';

/** What is behind the tunnel. */
export interface Target {
  /** By behaviour, named as the Go side reads them. */
  readonly addresses: Readonly<
    Record<'HTTP' | 'SpeaksFirst' | 'Ends' | 'Keeps' | 'Refused' | 'BlackHole', string>
  >;
  close(): Promise<void>;
}

export async function startTarget(): Promise<Target> {
  const blackHole = await openBlackHole('127.0.0.1');
  const kept = deferred<string>();
  const speaks = await startDestination((socket) => void socket.resume().write(GREETING));
  const ends = await startDestination((socket) => void socket.resume().end(GREETING));
  const keeps = await startDestination(
    (socket) => void digest(socket).then(kept.resolve, (error) => kept.resolve(String(error))),
  );
  const server = createServer((request, response) => {
    answer(request, response, blackHole.port, kept.promise).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    addresses: {
      HTTP: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      SpeaksFirst: speaks.address,
      Ends: ends.address,
      Keeps: keeps.address,
      Refused: await unusedAddress(),
      BlackHole: `127.0.0.1:${blackHole.port}`,
    },
    close: async () => {
      for (const one of [speaks, ends, keeps]) one.close();
      server.closeAllConnections();
      server.close();
      await blackHole.close();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  blackHolePort: number,
  kept: Promise<string>,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://target');
  switch (url.pathname) {
    case '/sha256':
      response.end(await digest(request));
      break;
    case '/download': {
      const body = randomBytes(Number(url.searchParams.get('bytes')));
      response.setHeader('X-Sha256', createHash('sha256').update(body).digest('hex'));
      response.end(body);
      break;
    }
    case '/kept':
      response.end(await kept);
      break;
    case '/dialled':
      // Answers when somebody is connecting to the black hole, or nobody is any more.
      while (isDialled(blackHolePort) !== (url.search === '?yes') && !request.socket.destroyed) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
      break;
    default:
      response.end(request.url);
  }
}

async function digest(stream: NodeJS.ReadableStream): Promise<string> {
  const hash: Hash = createHash('sha256');
  await pipeline(stream, hash);
  return hash.digest('hex');
}

/** Whether a connect to that port of this machine hangs. */
function isDialled(port: number): boolean {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')} ${SYN_SENT} `;
  return readFileSync('/proc/net/tcp', 'utf8').includes(remote);
}
