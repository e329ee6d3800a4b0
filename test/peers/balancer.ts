import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';

/** A TCP balancer on loopback that leads each connection to the next server. */
export class Balancer {
  readonly port: number;
  readonly targets: number[];
  connections = 0;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();

  private constructor(server: ReturnType<typeof createServer>, targets: number[]) {
    this.#server = server;
    this.targets = targets;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => this.#lead(socket));
  }

  static async start(targets: number[]): Promise<Balancer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Balancer(server, targets);
  }

  /** The connections that are open now carry nothing any more, in neither direction, and stay open. */
  freeze(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #lead(socket: Socket): void {
    const port = this.targets[this.connections++ % this.targets.length] as number;
    const onward = connectTo(port, '127.0.0.1');
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
