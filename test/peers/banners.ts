import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { received, requestConnect } from './connect-request.ts';
import type { TestTunnel } from './tunnel.ts';
import { startDestination } from './tunnel.ts';

const AT_ONCE = 10;
const BANNER = 'SSH-2.0-OpenSSH_9.6\r\n';

/** Dials a destination that speaks first, by CONNECT; each time the banner must follow the 200 and its blank line. */
export async function readBanners(tunnel: TestTunnel, times: number): Promise<void> {
  const destination = await startDestination((socket) => socket.end(BANNER));
  let left = times;
  const reader = async (): Promise<void> => {
    while (left-- > 0) {
      const socket: Socket = await tunnel.server.connectSocket();
      const all = received(socket);
      requestConnect(socket, destination.address);
      assert.match((await all).toString(), /^HTTP\/1\.1 200 [^\r\n]*\r\n\r\nSSH-2\.0-OpenSSH_9\.6\r\n$/);
      socket.destroy();
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, reader));
  } finally {
    destination.close();
  }
}
