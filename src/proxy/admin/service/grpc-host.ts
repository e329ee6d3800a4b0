import type { Socket } from 'node:net';
import { Server } from '@grpc/grpc-js';
import type { Newcomers } from '../../ops/newcomers.ts';
import { DEFAULT_END_STALL_MS, GrpcConnections } from '../../wire/grpc-connections.ts';

/** A request of the admin API is small: 1,000 agent IDs of the longest kind fit. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Operators, screens and scripts are some dozens: whoever opens more than this is refused the next ones. */
const MOST_CONNECTIONS = 1_000;
const KEEPALIVE_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;

/** What tests shrink. */
export interface GrpcHostOptions {
  readonly mostConnections?: number;
  /** Told of connections without a request. */
  readonly newcomers?: Newcomers;
  readonly endStallMs?: number;
  readonly keepaliveMs?: number;
  readonly keepaliveTimeoutMs?: number;
}

/** A grpc-js server on connections that are accepted elsewhere, so that listening and TLS stay in our hand. */
export class GrpcHost {
  readonly server: Server;
  readonly #connections: GrpcConnections;

  constructor(options: GrpcHostOptions = {}) {
    const { mostConnections = MOST_CONNECTIONS, endStallMs = DEFAULT_END_STALL_MS } = options;
    this.server = new Server({
      'grpc.enable_channelz': 0,
      'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
      'grpc.max_send_message_length': -1,
      'grpc.keepalive_time_ms': options.keepaliveMs ?? KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': options.keepaliveTimeoutMs ?? KEEPALIVE_TIMEOUT_MS,
    });
    this.#connections = new GrpcConnections(this.server, {
      endStallMs,
      mostConnections,
      onIdle: (socket) => options.newcomers?.idle(socket),
      onBusy: (socket) => options.newcomers?.busy(socket),
    });
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Serves an accepted connection, until close(). One beyond the bound is ended. */
  accept(socket: Socket): void {
    this.#connections.inject(socket);
  }

  /** Ends every connection at once; resolves when all are closed. */
  close(): Promise<void> {
    return this.#connections.close();
  }
}
