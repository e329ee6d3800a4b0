import { oneLine } from '../ops/fault.ts';
import type { Log } from '../ops/log.ts';
import { RepeatedLine } from '../ops/repeated-line.ts';
import type { PacketStream } from '../wire/packet-stream.ts';
import type { ServerCall } from '../wire/server-call.ts';
import type { DialDesk } from './dial-desk.ts';
import { GrpcFrontend } from './grpc-frontend.ts';
import type { ServerCounters } from './server-counters.ts';
import type { ServerTimes } from './server-options.ts';
import type { Tails } from './tails.ts';
import { WriteClock } from './write-clock.ts';

/** What the Proxy handler needs. */
export interface ProxyServiceOptions {
  readonly desk: DialDesk;
  readonly counters: ServerCounters;
  readonly times: ServerTimes;
  readonly log: Log;
  readonly tails: Tails;
  openStream(call: ServerCall): PacketStream;
}

/** Handles `ProxyService/Proxy`: every stream is a frontend of its own. */
export function proxyService(options: ProxyServiceOptions): (call: ServerCall) => void {
  const { desk, counters, times, log } = options;
  const repeated = new RepeatedLine(log);
  return (call) => {
    const { peer, userAgent } = call;
    const client = oneLine(userAgent === undefined ? peer : `${peer} (${userAgent})`, 200);
    counters.grpcFrontends++;
    new GrpcFrontend(options.openStream(call), {
      client,
      writes: new WriteClock(counters.frontendWriteSeconds),
      tails: options.tails,
      holdMs: times.holdMs,
      firstPacketTimeoutMs: times.headTimeoutMs,
      dial: (frontend, id, address, request) => desk.dial(frontend, id, address, request),
      onProtocolError: (what) =>
        repeated.warn('protocol', 'A frontend broke the protocol: its stream is ended', { client, what }),
      onEnd: (end) => {
        counters.grpcFrontends--;
        if (end.cause === 'malformed') {
          repeated.warn('malformed', 'Malformed packet from a frontend: its stream is ended', {
            client,
            reason: end.details,
          });
        }
      },
    });
  };
}
