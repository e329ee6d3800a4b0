import http2, { type ServerHttp2Stream } from 'node:http2';
import { DEFAULT_END_STALL_MS } from './grpc-connections.ts';
import { INTERNAL, RESOURCE_EXHAUSTED } from './handled-stream.ts';

/** A client that neither reads nor goes away must not keep a stream that is over here. */
export function resetWhenStalled(
  stream: ServerHttp2Stream,
  bufferedBytes: () => number,
  stallMs = DEFAULT_END_STALL_MS,
): void {
  let left = Number.POSITIVE_INFINITY;
  const timer = setInterval(() => {
    if (bufferedBytes() < left) left = bufferedBytes();
    else
      stream.close(
        stream.writableFinished ? http2.constants.NGHTTP2_NO_ERROR : http2.constants.NGHTTP2_CANCEL,
      );
  }, stallMs);
  timer.unref();
  stream.once('close', () => clearInterval(timer));
}

/**
 * Resets a stream in place of a gRPC status. For another code than CANCEL Node has nghttp2 write at once, which frees the
 * stream, also in the midst of reading from it (Node 20.20): so that waits until nothing is being read.
 */
export function resetStream(stream: ServerHttp2Stream, code: number): void {
  const http2Code = resetCode(code);
  if (http2Code === http2.constants.NGHTTP2_CANCEL) stream.close(http2Code);
  else setImmediate(() => stream.close(http2Code));
}

/** The HTTP/2 code for a gRPC status. */
function resetCode(code: number): number {
  if (code === INTERNAL) return http2.constants.NGHTTP2_INTERNAL_ERROR;
  if (code === RESOURCE_EXHAUSTED) return http2.constants.NGHTTP2_ENHANCE_YOUR_CALM;
  return http2.constants.NGHTTP2_CANCEL;
}
