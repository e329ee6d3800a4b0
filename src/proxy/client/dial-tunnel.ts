import type { Duplex } from 'node:stream';
import { Fault, oneLine } from '../ops/fault.ts';
import { dialByConnect } from './connect-tunnel.ts';
import type { DialStep } from './dial-step.ts';
import { dialByGrpc } from './grpc-tunnel.ts';
import { serverText, type TunnelMode, type TunnelServer } from './tunnel-server.ts';

export interface DialTunnelOptions {
  readonly server: TunnelServer;
  readonly mode: TunnelMode;
  /** `host:port`, resolved and connected to by the agent. */
  readonly address: string;
  /** Gives up dialling; an open tunnel is ended by its owner. */
  readonly signal: AbortSignal;
  /** For all of it: connecting, TLS, the answer. */
  readonly timeoutMs: number;
  readonly onStep?: (step: DialStep) => void;
}

/**
 * Opens a tunnel as kube-apiserver does: a socket for `http-connect`, a Duplex over a packet stream for `grpc`. It
 * has an error listener already, is unread, and may have ended already (`readableEnded`). end() half-closes a socket;
 * a gRPC tunnel knows no half-close, there it ends both directions.
 * @throws Fault: `dial-refused`, `dial-timeout`, `bad-answer` when the server was reached (isDialFault); `cancelled`
 * after the signal; those of connectFault, or `connection-timeout`, when it was not
 */
export async function dialTunnel(options: DialTunnelOptions): Promise<Duplex> {
  const { server, mode, address, timeoutMs } = options;
  if (!/^[^\s\u0000-\u001f\u007f]{1,512}$/.test(address)) {
    throw new Fault('bad-address', `"${oneLine(address, 80)}" is no destination`, 'give host:port');
  }
  const attempt = new AbortController();
  let requested = false;
  const onAbort = (): void => attempt.abort(new Fault('cancelled', 'given up before the tunnel stood'));
  const timer = setTimeout(() => attempt.abort(timeoutFault(requested, options)), timeoutMs);
  if (options.signal.aborted) onAbort();
  options.signal.addEventListener('abort', onAbort, { once: true });
  const parts = {
    address,
    signal: attempt.signal,
    onStep: (step: DialStep): void => {
      if (step.name === 'requested') requested = true;
      options.onStep?.(step);
    },
  };
  try {
    return await (mode === 'grpc' ? dialByGrpc(server, parts) : dialByConnect(server, parts));
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onAbort);
  }
}

function timeoutFault(requested: boolean, { server, address, timeoutMs }: DialTunnelOptions): Fault {
  const where = serverText(server);
  const within = `within ${timeoutMs / 1000} s`;
  return requested
    ? new Fault('dial-timeout', `${where} gave no answer to the dial of ${address} ${within}`)
    : new Fault(
        'connection-timeout',
        `${where} does not answer ${within}`,
        'check the address and what filters on the way',
      );
}
