import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { resetSocket } from '../../src/proxy/ops/reset-socket.ts';

/** A TCP balancer on loopback that leads each connection to the next server. */
export class Balancer {
  readonly port: number;
  readonly targets: number[];
  connections = 0;
  readonly #server: ReturnType<typeof createServer>;
  /** With the port that each leads to or from. */
  readonly #sockets = new Map<Socket, number>();
  readonly #frozen = new Set<Socket>();

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
    for (const socket of this.#sockets.keys()) {
      socket.unpipe().pause();
      this.#frozen.add(socket);
    }
  }

  /** The connections break off, at both ends: all, or those to one target. */
  cut(target?: number): void {
    for (const [socket, port] of this.#sockets) {
      if (target === undefined || target === port) resetSocket(socket);
    }
  }

  /** The connections that were frozen break off. */
  cutFrozen(): void {
    for (const socket of this.#frozen) resetSocket(socket);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  #lead(socket: Socket): void {
    const port = this.targets[this.connections++ % this.targets.length] as number;
    const onward = connectTo(port, '127.0.0.1');
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.set(one, port);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        this.#frozen.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
