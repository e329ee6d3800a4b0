import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

/** A packet as protobufjs has it; only what a naive tunnel needs. */
export interface NaivePacket {
  readonly type: number;
  readonly dialRequest?: { readonly protocol: string; readonly address: string; readonly random: number };
  readonly dialResponse?: { readonly error: string; readonly connectID: number; readonly random: number };
  readonly data?: { readonly connectID: number; readonly data: Buffer };
  readonly closeRequest?: { readonly connectID: number };
}

export const DIAL_REQ = 0;
export const DIAL_RSP = 1;
export const CLOSE_REQ = 2;
export const DATA = 4;

// 64-bit numbers as plain ones.
protobuf.util.Long = undefined as never;
protobuf.configure();
const file = fileURLToPath(new URL('../../proto/tunnel.proto', import.meta.url));
const packetType = new protobuf.Root().loadSync(file, { keepCase: true }).lookupType('Packet');

/** The one call of a naive pair, with protobufjs' codec, as proto-loader would set it up. */
export const CONNECT_METHOD = {
  path: '/AgentService/Connect',
  requestStream: true,
  responseStream: true,
  requestSerialize: serialize,
  requestDeserialize: deserialize,
  responseSerialize: serialize,
  responseDeserialize: deserialize,
} as const;

function serialize(packet: NaivePacket): Buffer {
  return packetType.encode(packet as object).finish() as Buffer;
}

function deserialize(bytes: Buffer): NaivePacket {
  return packetType.decode(bytes) as unknown as NaivePacket;
}
