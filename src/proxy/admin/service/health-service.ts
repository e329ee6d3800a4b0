import type { Server, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { MessageReader } from '../messages/message-reader.ts';
import { MessageWriter } from '../messages/message-writer.ts';
import { ADMIN_SERVICE } from '../messages/methods.ts';
import type { IncomingCall } from './access.ts';
import { notFound, quoted } from './requests.ts';
import { statusOfFault } from './status-of-fault.ts';

const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;

/** An object: grpc-js takes an empty text for no request. */
interface HealthRequest {
  readonly service: string;
}

export interface HealthParts {
  readonly stopping: boolean;
  /** Calls back when `stopping` may have changed. @returns the way out */
  onChange(listener: () => void): () => void;
  /** @throws Fault `admin-denied` */
  admit(call: IncomingCall): void;
}

/** grpc.health.v1 for the admin service. */
export function registerHealth(server: Server, parts: HealthParts): void {
  const statusOf = (service: string): number => {
    if (service !== '' && service !== ADMIN_SERVICE) return SERVICE_UNKNOWN;
    return parts.stopping ? NOT_SERVING : SERVING;
  };
  const check = (
    call: ServerUnaryCall<HealthRequest, number>,
    done: (error: object | null, status?: number) => void,
  ): void => {
    try {
      parts.admit(call);
      const status = statusOf(call.request.service);
      if (status === SERVICE_UNKNOWN)
        throw notFound(`no service ${quoted(call.request.service)} here`, `ask for ${ADMIN_SERVICE}`);
      done(null, status);
    } catch (error) {
      done(statusOfFault(error));
    }
  };
  const watch = (call: ServerWritableStream<HealthRequest, number>): void => {
    call.on('error', () => {});
    try {
      parts.admit(call);
    } catch (error) {
      call.emit('error', statusOfFault(error));
      return;
    }
    let said = statusOf(call.request.service);
    call.write(said);
    const leave = parts.onChange(() => {
      const status = statusOf(call.request.service);
      if (status !== said) call.write(status);
      said = status;
    });
    call.once('cancelled', leave);
    call.once('close', leave);
  };
  server.register('/grpc.health.v1.Health/Check', check as never, encodeStatus, decodeService, 'unary');
  server.register('/grpc.health.v1.Health/Watch', watch, encodeStatus, decodeService, 'serverStream');
}

function encodeStatus(status: number): Buffer {
  const writer = new MessageWriter();
  writer.integer(1, status);
  return writer.copy();
}

function decodeService(bytes: Buffer): HealthRequest {
  const reader = new MessageReader(bytes);
  let service = '';
  while (reader.more) {
    const tag = reader.tag();
    if (tag === 10) service = reader.string();
    else reader.skip(tag);
  }
  return { service };
}
