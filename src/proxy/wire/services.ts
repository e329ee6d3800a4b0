/** Paths of the two bidirectional methods; there is no proto package. */
export const PROXY_PATH = '/ProxyService/Proxy';
export const CONNECT_PATH = '/AgentService/Connect';

/** Hands messages to grpc-js and takes them from it as they are: packets are encoded and decoded by PacketStream. */
export function identity(message: Buffer): Buffer {
  return message;
}
