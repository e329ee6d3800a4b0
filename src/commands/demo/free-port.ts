import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Fault } from '../../proxy/ops/fault.ts';

// Below the range from which systems take the ports of outgoing connections, so that none of those gets there first.
const LEAST = 20_000;
const MOST = 32_000;
const TRIES = 100;

/** A port of 127.0.0.1 on which nothing listens now. @throws Fault */
export async function freePort(): Promise<number> {
  for (let i = 0; i < TRIES; i++) {
    const port = randomInt(LEAST, MOST);
    if (await isFree(port)) return port;
  }
  throw new Fault('no-free-port', `no free port of 127.0.0.1 was found between ${LEAST} and ${MOST}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}
