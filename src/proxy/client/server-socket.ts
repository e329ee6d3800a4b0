import { connect as connectNet, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { connectFault } from '../ops/tls-errors.ts';
import { checkUnixPath } from '../ops/unix-path.ts';
import type { DialParts } from './dial-step.ts';
import { serverText, type TunnelServer } from './tunnel-server.ts';

/**
 * Connects to a server's frontend as kube-apiserver does: no ALPN, no SNI for an IP. The socket is half-open capable.
 * @throws Fault of connectFault or checkUnixPath, or the signal's reason
 */
export async function connectToServer(
  server: TunnelServer,
  { signal, onStep }: Pick<DialParts, 'signal' | 'onStep'>,
): Promise<Socket> {
  if (server.kind === 'unix') checkUnixPath(server.path, 'the socket path');
  onStep({ name: 'connecting', text: `connecting to ${serverText(server)}` });
  signal.throwIfAborted();
  const socket = open(server);
  socket.setNoDelay(true);
  // Whoever waits hears of it otherwise; without a listener of its own an error would end the process.
  socket.on('error', () => {});
  socket.once('connect', () => onStep({ name: 'connected', text: 'connected' }));
  try {
    await settled(socket, server.kind === 'unix' ? 'connect' : 'secureConnect', signal);
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : connectFault(error, serverText(server));
  }
  // Before this the end of the server is a hang-up.
  socket.allowHalfOpen = true;
  if (server.kind === 'tls') onStep({ name: 'secured', text: securedText(socket as TLSSocket) });
  return socket;
}

/** What a handshake came to: protocol, and whom the server's certificate names. */
export function securedText(socket: TLSSocket): string {
  const { subject, subjectaltname } = socket.getPeerCertificate();
  const names = subjectaltname ?? `CN=${subject?.CN ?? 'nobody'}`;
  return `TLS done: ${socket.getProtocol()}, ${socket.getCipher().name}, server certificate for ${names}`;
}

function open(server: TunnelServer): Socket {
  if (server.kind === 'unix') return connectNet({ path: server.path, allowHalfOpen: true });
  const { host, port } = server;
  return connectTls({
    host,
    port,
    servername: isIP(host) === 0 ? host : '',
    secureContext: server.tls.secureContext,
  });
}

function settled(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new Error('connection closed'));
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', reject);
    socket.once('close', onClose);
    socket.once(event, () => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', reject);
      socket.off('close', onClose);
      resolve();
    });
  });
}
