import type { Socket } from 'node:net';

/** Everything a socket receives until its end. */
export function received(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(chunks)));
    socket.on('end', () => socket.end());
  });
}

/** Writes a CONNECT request as kube-apiserver does. */
export function requestConnect(socket: Socket, target: string): void {
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
}

/** Reads up to the end of the head; what follows it is given back to the socket. */
export function readHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const onReadable = (): void => {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
        bytes = Buffer.concat([bytes, chunk]);
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0) continue;
        socket.off('readable', onReadable);
        socket.off('end', onEnd);
        if (bytes.length > end + 4) socket.unshift(bytes.subarray(end + 4));
        resolve(bytes.toString('latin1', 0, end + 4));
        return;
      }
    };
    const onEnd = (): void =>
      reject(new Error(`the socket ended after ${JSON.stringify(bytes.toString('latin1'))}`));
    socket.on('readable', onReadable);
    socket.on('end', onEnd);
  });
}
