import type { Server, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { METHOD_NAMES, type MethodName, methodCodec } from '../messages/methods.ts';
import type { IncomingCall } from './access.ts';
import type { AdminHandlers, CallContext } from './admin-handlers.ts';
import type { Caller } from './caller.ts';
import { statusOfFault } from './status-of-fault.ts';

export interface RegisterOptions {
  /** Who it is. @throws Fault `admin-denied` */
  caller(method: MethodName, call: IncomingCall): Caller;
  /** A handler threw what is no Fault. */
  onBug(method: MethodName, error: unknown): void;
}

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
    const fail = (error: unknown): ReturnType<typeof statusOfFault> => {
      const failure = statusOfFault(error);
      if (!(error instanceof Error && error.name === 'Fault')) options.onBug(name, error);
      return failure;
    };
    if (streamed) {
      const run = (call: ServerWritableStream<unknown, unknown>): void => {
        void writeAll(call, name, handler, options, fail);
      };
      server.register(path, run, encodeResponse as (value: unknown) => Buffer, decodeRequest, 'serverStream');
    } else {
      const run = (
        call: ServerUnaryCall<unknown, unknown>,
        done: (error: object | null, value?: unknown) => void,
      ) => {
        answer(call, name, handler, options).then(
          (value) => done(null, value),
          (error: unknown) => done(fail(error)),
        );
      };
      server.register(
        path,
        run as never,
        encodeResponse as (value: unknown) => Buffer,
        decodeRequest,
        'unary',
      );
    }
  }
}

async function answer(
  call: ServerUnaryCall<unknown, unknown>,
  name: MethodName,
  handler: AnyHandler,
  options: RegisterOptions,
): Promise<unknown> {
  const ended = new AbortController();
  call.once('cancelled', () => ended.abort());
  return await handler(call.request, { caller: options.caller(name, call), signal: ended.signal });
}

/** Asks the handler for the next message only when the client's side took the last: what it does not read is not made. */
async function writeAll(
  call: ServerWritableStream<unknown, unknown>,
  name: MethodName,
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
    for await (const message of handler(call.request, context) as AsyncIterable<unknown>) {
      if (ended.signal.aborted) return;
      if (!call.write(message)) await drained(call, ended.signal);
    }
    call.end();
  } catch (error) {
    if (!ended.signal.aborted) call.emit('error', fail(error));
  }
}

function drained(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      call.removeListener('drain', done);
      resolve();
    };
    if (signal.aborted) done();
    else {
      signal.addEventListener('abort', done);
      call.once('drain', done);
    }
  });
}
