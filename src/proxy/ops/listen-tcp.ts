import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  acceptOptions,
  bindServer,
  hostPort,
  type Listener,
  type ListenerOptions,
  stopAccepting,
  surviveAcceptErrors,
} from './listener.ts';

export interface TcpListenerOptions extends ListenerOptions<Socket> {
  /** Empty: all addresses of both families. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Listens for plain TCP. Rejects with the Faults of bindFault. */
export async function listenTcp(options: TcpListenerOptions): Promise<Listener> {
  const server = createServer(acceptOptions, (socket) => {
    socket.on('error', () => {});
    options.newcomers?.accepted(socket);
    options.onConnection(socket);
  });
  return await bindTcp(server, options);
}

/** Binds a server made elsewhere to a TCP address. */
export async function bindTcp(
  server: Server,
  { host, port, label, log }: Pick<TcpListenerOptions, 'host' | 'port' | 'label' | 'log'>,
): Promise<Listener> {
  const wanted = hostPort(host === '' ? '*' : host, port);
  await bindServer(server, () => server.listen(host === '' ? { port } : { port, host }), {
    address: wanted,
    label,
  });
  const bound = server.address() as AddressInfo;
  const address = hostPort(bound.address, bound.port);
  surviveAcceptErrors(server, log, address);
  return { address, port: bound.port, path: '', close: () => stopAccepting(server) };
}
