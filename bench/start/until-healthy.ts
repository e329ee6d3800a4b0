import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { nowMs } from '../messages.ts';

const PAUSE_MS = 2;

/** Asks for /healthz until it says ok. @returns when, by the clock of nowMs(). @throws Error after `timeoutMs` */
export async function untilHealthy(port: number, timeoutMs: number): Promise<number> {
  const giveUpMs = nowMs() + timeoutMs;
  while (!(await healthy(port))) {
    if (nowMs() > giveUpMs) throw new Error(`the server is not healthy after ${timeoutMs} ms`);
    await delay(PAUSE_MS);
  }
  return nowMs();
}

async function healthy(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () =>
      socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'),
    );
    socket.once('data', (head) => {
      socket.destroy();
      resolve(head.toString('latin1').startsWith('HTTP/1.1 200 '));
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
