import type { Socket } from 'node:net';
import { Pattern } from '../peers/pattern.ts';
import { HEAD_BYTES, type StreamBook, writeAll } from './streams.ts';

/** The destination's side of a stream: reads who it is, checks what comes, sends what is wanted, then ends. */
export function serveStream(socket: Socket, book: StreamBook): void {
  let head = Buffer.alloc(0);
  let taken = 0;
  let up: Pattern | undefined;
  let upBytes = 0;
  let sent = false;
  const number = (): number => head.readUInt32BE(0);
  const maybeEnd = (): void => {
    if (sent && taken === upBytes) socket.end();
  };
  const begin = (): void => {
    up = new Pattern(number(), 'up');
    upBytes = head.readUInt32BE(4);
    book.uploaded.set(number(), 0);
    book.numbers.set(socket, number());
    socket.once('close', () => book.numbers.delete(socket));
    writeAll(socket, new Pattern(number(), 'down'), head.readUInt32BE(8)).then(() => {
      sent = true;
      maybeEnd();
    });
  };
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk;
    if (up === undefined) {
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) return;
      rest = head.subarray(HEAD_BYTES);
      begin();
    }
    try {
      up?.check(taken, rest);
    } catch (error) {
      book.fail(error);
    }
    taken += rest.length;
    if (book.uploaded.has(number())) book.uploaded.set(number(), taken);
    maybeEnd();
  });
  socket.on('end', () => socket.end());
}
