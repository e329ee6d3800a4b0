import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Fault } from '../../proxy/ops/fault.ts';

// Below the range from which systems take the ports of outgoing connections, so that none of those gets there first.
const RANGE = { least: 20_000, most: 32_000 };
const TRIES = 100;

/**
 * A port of 127.0.0.1 on which nothing listens now. It is given once as long as this process lives: also no other
 * process gets it from here, as whoever wants it takes its time until it listens.
 * @throws Fault
 */
export async function freePort({ least, most } = RANGE): Promise<number> {
  for (let i = 0; i < TRIES; i++) {
    const port = randomInt(least, most);
    const giveUp = await claim(port);
    if (giveUp === undefined) continue;
    if (await isFree(port)) return port;
    giveUp();
  }
  throw new Fault('no-free-port', `no free port of 127.0.0.1 was found between ${least} and ${most}`);
}

/** Holds the UDP port of that number, which nobody listens on; the kernel gives it up with the process. */
async function claim(port: number): Promise<(() => void) | undefined> {
  const socket = createSocket('udp4');
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(socket, 'listening');
    socket.unref();
    return () => socket.close();
  } catch {
    socket.close();
    return undefined;
  }
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
