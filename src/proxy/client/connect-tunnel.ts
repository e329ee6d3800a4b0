import type { Socket } from 'node:net';
import type { Fault } from '../ops/fault.ts';
import { connectFault } from '../ops/tls-errors.ts';
import { type AnswerHead, parseAnswerHead } from './answer-head.ts';
import type { DialParts } from './dial-step.ts';
import { connectToServer } from './server-socket.ts';
import { badAnswer, dialRefused } from './tunnel-faults.ts';
import { serverText, type TunnelServer } from './tunnel-server.ts';

/** Of a refusal's body no more is read, in bytes; and no longer is waited for it. */
const MAX_REASON_BYTES = 4 * 1024;
const REASON_TIMEOUT_MS = 2_000;

/**
 * Dials by HTTP CONNECT. The socket may have ended already (`readableEnded`).
 * @throws Fault
 */
export async function dialByConnect(server: TunnelServer, parts: DialParts): Promise<Socket> {
  const { address, signal, onStep } = parts;
  const where = serverText(server);
  const socket = await connectToServer(server, parts);
  try {
    // Exactly what kube-apiserver sends.
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    onStep({ name: 'requested', text: `sent CONNECT ${address}` });
    const head = await readHead(socket, where, signal);
    if (head.status < 200 || head.status > 299) {
      const reason = await readReason(socket, head);
      throw dialRefused(where, address, `${head.status} ${head.phrase}${reason === '' ? '' : `: ${reason}`}`);
    }
    if (head.rest.length > 0) socket.unshift(head.rest);
    onStep({ name: 'answered', text: `answer: ${head.status} ${head.phrase}` });
    return socket;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : error;
  }
}

type Answer = AnswerHead & { kind: 'answer' };

function readHead(socket: Socket, where: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const stop = (): void => {
      socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (fault: Fault): void => {
      stop();
      reject(fault);
    };
    const onAbort = (): void => fail(signal.reason);
    // With TLS 1.3 a server refuses our certificate only after the handshake is done on our side.
    const onError = (error: Error): void => fail(connectFault(error, where));
    const onEnd = (): void =>
      fail(
        bytes.length === 0
          ? connectFault(new Error('connection closed without an answer'), where)
          : badAnswer(where, `it ended after ${JSON.stringify(bytes.toString('latin1', 0, 80))}`),
      );
    const onReadable = (): void => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const head = parseAnswerHead(bytes);
      if (head.kind === 'incomplete') return;
      if (head.kind === 'bad') {
        fail(badAnswer(where, head.why));
      } else {
        stop();
        resolve(head);
      }
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
  });
}

/** The body of a refusal: as much of it as comes soon. Never fails: the status alone is an answer, too. */
function readReason(socket: Socket, head: Answer): Promise<string> {
  return new Promise((resolve) => {
    const most = Math.min(head.contentLength ?? MAX_REASON_BYTES, MAX_REASON_BYTES);
    let bytes = head.rest;
    const done = (): void => {
      clearTimeout(timer);
      socket.off('data', onData);
      resolve(bytes.toString('utf8', 0, most).trim());
    };
    const timer = setTimeout(done, REASON_TIMEOUT_MS);
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length >= most) done();
    };
    if (bytes.length >= most || socket.readableEnded) return done();
    socket.on('data', onData).once('end', done).once('close', done);
  });
}
