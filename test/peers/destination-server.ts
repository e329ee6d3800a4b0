import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Inbox } from './inbox.ts';

/** A TCP server on loopback to which agents connect; the test holds every accepted socket. */
export class DestinationServer {
  readonly address: string;
  readonly port: number;
  readonly accepted = new Inbox<Socket>();
  readonly open = new Set<Socket>();
  /** Runs before a test sees the socket. */
  onSocket: (socket: Socket) => void = () => {};
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.address = `127.0.0.1:${this.port}`;
    server.on('connection', (socket) => {
      this.open.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.open.delete(socket));
      this.onSocket(socket);
      this.accepted.push(socket);
    });
  }

  /** Accepted sockets are paused, and half-open capable. */
  static async start(): Promise<DestinationServer> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new DestinationServer(server);
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Everything that comes until the end of the socket. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  await once(socket, 'end');
  return Buffer.concat(chunks);
}
