import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';

/**
 * Ends a connection that has had no open stream for `idleMs`, also before its first one. grpc-js' own limit ends in
 * order, and waits for a client that has not even begun.
 */
export function endWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  let streams = 0;
  const timer = setTimeout(() => {
    if (streams === 0) session.destroy();
  }, idleMs).unref();
  session.on('stream', (stream: ServerHttp2Stream) => {
    streams++;
    stream.once('close', () => {
      streams--;
      if (streams === 0 && !session.destroyed) timer.refresh();
    });
  });
  session.once('close', () => clearTimeout(timer));
}
