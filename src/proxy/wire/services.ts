import type { MethodDefinition } from '@grpc/grpc-js';

/** Paths of the two bidirectional methods; there is no proto package. */
export const PROXY_PATH = '/ProxyService/Proxy';
export const CONNECT_PATH = '/AgentService/Connect';

/** Hands messages to grpc-js and takes them from it as they are: packets are encoded and decoded by PacketStream. */
export function identity(message: Buffer): Buffer {
  return message;
}

/** `ProxyService/Proxy`: one stream for each tunnel of a frontend. */
export const proxyMethod: MethodDefinition<Buffer, Buffer> = bidi(PROXY_PATH);
/** `AgentService/Connect`: one stream for all tunnels between an agent and a server. */
export const connectMethod: MethodDefinition<Buffer, Buffer> = bidi(CONNECT_PATH);

function bidi(path: string): MethodDefinition<Buffer, Buffer> {
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: identity,
    requestDeserialize: identity,
    responseSerialize: identity,
    responseDeserialize: identity,
  };
}
