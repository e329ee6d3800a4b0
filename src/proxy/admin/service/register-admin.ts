import type { Server, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { MalformedMessageError } from '../messages/message-reader.ts';
import { METHOD_NAMES, type MethodName, methodCodec } from '../messages/methods.ts';
import type { IncomingCall } from './access.ts';
import type { AdminHandlers, CallContext } from './admin-handlers.ts';
import type { Caller } from './caller.ts';
import { badRequest } from './requests.ts';
import { statusOfFault } from './status-of-fault.ts';

export interface RegisterOptions {
  /** Who it is. @throws Fault `admin-denied` */
  caller(method: MethodName, call: IncomingCall): Caller;
  /** A handler threw what is no Fault. */
  onBug(method: MethodName, error: unknown): void;
}

/** Read when it is known who asks, and so that bad bytes are the client's fault: grpc-js calls them INTERNAL. */
const unread = (bytes: Buffer): Buffer => bytes;

type AnyHandler = (request: unknown, context: CallContext) => unknown;

/** Puts handlers behind the methods of the admin service. A method without one is answered UNIMPLEMENTED. */
export function registerAdmin(
  server: Server,
  handlers: Partial<AdminHandlers>,
  options: RegisterOptions,
): void {
  for (const name of METHOD_NAMES) {
    const handler = handlers[name] as AnyHandler | undefined;
    if (handler === undefined) continue;
    const { path, streamed, encodeResponse, decodeRequest } = methodCodec(name);
    const readRequest = (bytes: Buffer): unknown => {
      try {
        return decodeRequest(bytes);
      } catch (error) {
        if (!(error instanceof MalformedMessageError)) throw error;
        throw badRequest(`the request is no message of its kind (${error.message})`, 'see proto/admin.proto');
      }
    };
    const fail = (error: unknown): ReturnType<typeof statusOfFault> => {
      const failure = statusOfFault(error);
      if (!(error instanceof Error && error.name === 'Fault')) options.onBug(name, error);
      return failure;
    };
    if (streamed) {
      const run = (call: ServerWritableStream<Buffer, unknown>): void => {
        void writeAll(call, name, readRequest, handler, options, fail);
      };
      server.register(path, run, encodeResponse as (value: unknown) => Buffer, unread, 'serverStream');
    } else {
      const run = (
        call: ServerUnaryCall<Buffer, unknown>,
        done: (error: object | null, value?: unknown) => void,
      ) => {
        answer(call, name, readRequest, handler, options).then(
          (value) => done(null, value),
          (error: unknown) => done(fail(error)),
        );
      };
      server.register(path, run as never, encodeResponse as (value: unknown) => Buffer, unread, 'unary');
    }
  }
}

async function answer(
  call: ServerUnaryCall<Buffer, unknown>,
  name: MethodName,
  readRequest: (bytes: Buffer) => unknown,
  handler: AnyHandler,
  options: RegisterOptions,
): Promise<unknown> {
  const ended = new AbortController();
  call.once('cancelled', () => ended.abort());
  const context = { caller: options.caller(name, call), signal: ended.signal };
  return await handler(readRequest(call.request), context);
}

/** Asks the handler for the next message only when the client's side took the last: what it does not read is not made. */
async function writeAll(
  call: ServerWritableStream<Buffer, unknown>,
  name: MethodName,
  readRequest: (bytes: Buffer) => unknown,
  handler: AnyHandler,
  options: RegisterOptions,
  fail: (error: unknown) => object,
): Promise<void> {
  const ended = new AbortController();
  call.on('error', () => ended.abort());
  call.once('close', () => ended.abort());
  call.once('cancelled', () => ended.abort());
  try {
    const context = { caller: options.caller(name, call), signal: ended.signal };
    for await (const message of handler(readRequest(call.request), context) as AsyncIterable<unknown>) {
      if (ended.signal.aborted) return;
      await taken(call, message, ended.signal);
    }
    call.end();
  } catch (error) {
    if (!ended.signal.aborted) call.emit('error', fail(error));
  }
}

/**
 * Resolves when HTTP/2 took the message, or the call ended. What grpc-js would take besides, sixteen messages of any
 * size, a client that does not read would have us keep.
 */
function taken(
  call: ServerWritableStream<Buffer, unknown>,
  message: unknown,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    call.write(message, done);
    if (signal.aborted) done();
  });
}
