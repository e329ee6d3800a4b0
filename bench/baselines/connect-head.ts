import type { Duplex } from 'node:stream';

const HEAD_END = '\r\n\r\n';

/** The answer to a CONNECT that succeeded. */
export const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** Reads a CONNECT's head, which the generator sends in one piece and alone, and hands its target over. */
export function readConnectHead(socket: Duplex, onTarget: (host: string, port: number) => void): void {
  socket.once('data', (head: Buffer) => {
    const match = /^CONNECT ([^ :]+):(\d+) /.exec(head.toString('latin1'));
    if (match === null || !head.toString('latin1').endsWith(HEAD_END)) {
      socket.destroy();
      return;
    }
    onTarget(match[1] as string, Number(match[2]));
  });
}
