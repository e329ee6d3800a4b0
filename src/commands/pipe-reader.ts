import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';

/** What is used of Node's handle of a TCP socket. It is not documented: what is missing is done without. */
interface Handle {
  readonly constructor: new (type: number) => Handle;
  open(fd: number): number;
}

/** Of the handle's class: a socket, not a listener. */
const SOCKET = 0;

/**
 * Tells when the last reader of a pipe is gone. Otherwise that shows with the next write alone, which in a watch of
 * something quiet may be hours later. Linux says it to whoever polls the writing end, as an error; Node polls that end
 * for writes only, and its pipe handles refuse to read from it. Those of TCP ask nothing: they are made to poll a second
 * descriptor of the same pipe, from which there is never anything to read.
 * @returns ends it; where it cannot be seen (no pipe, no Linux, another Node) nothing is told
 */
export function onReaderGone(stdout: NodeJS.WritableStream, gone: () => void): () => void {
  const { fd } = stdout as { readonly fd?: unknown };
  const nothing = (): void => {};
  if (process.platform !== 'linux' || typeof fd !== 'number') return nothing;
  let end: number | undefined;
  try {
    if (!fstatSync(fd).isFIFO()) return nothing;
    end = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
    const handle = newHandle();
    if (handle === undefined || handle.open(end) !== 0) {
      closeSync(end);
      return nothing;
    }
    const options: object = { handle, readable: true, writable: false };
    const socket = new Socket(options).unref();
    socket.on('error', gone).on('end', gone).resume();
    return () => void socket.off('error', gone).on('error', nothing).destroy();
  } catch {
    if (end !== undefined) closeSync(end);
    return nothing;
  }
}

/** A TCP handle that is connected to nothing, of the class that a socket takes which was about to connect. */
function newHandle(): Handle | undefined {
  const socket = new Socket().on('error', () => {});
  socket.connect({ host: '127.0.0.1', port: 9 });
  const { _handle: handle } = socket as { readonly _handle?: Handle | null };
  // Before it does: that is in the next tick.
  socket.destroy();
  return handle ? new handle.constructor(SOCKET) : undefined;
}
