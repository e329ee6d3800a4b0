import type { IncomingMessage } from 'node:http';
import { KubeFault, refused, statusObject, unreachable } from './kube-fault.ts';

/** One change that a watch tells of. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/** A longer event is refused. */
const MOST_EVENT_BYTES = 4 * 1024 * 1024;

/**
 * Reads the answer to a watch: one JSON object a line. Ends when the API ends it in order; the answer is destroyed in
 * any case. @throws KubeFault: an ERROR event, a lost connection, silence, a line that is no event
 */
export async function* watchEvents<T>(
  answer: IncomingMessage,
  options: { readonly server: string; readonly silentMs: number },
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  let silent = false;
  const giveUp = (): void => {
    silent = true;
    answer.destroy(new Error('silent'));
  };
  let timer = setTimeout(giveUp, options.silentMs);
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        parts.push(chunk.subarray(from, end));
        const line = Buffer.concat(parts.splice(0)).toString('utf8');
        bytes = 0;
        from = end + 1;
        if (line.trim() !== '') yield parseEvent<T>(line);
      }
      parts.push(chunk.subarray(from));
      bytes += chunk.length - from;
      if (bytes > MOST_EVENT_BYTES) {
        throw new KubeFault('kube-bad-answer', `an event has more than ${MOST_EVENT_BYTES} bytes`);
      }
      timer = setTimeout(giveUp, options.silentMs);
    }
    if (bytes > 0)
      throw new KubeFault('kube-unreachable', 'the Kubernetes API cut the watch within an event');
  } catch (error) {
    if (!silent) throw unreachable(error, options.server);
    const message = `the Kubernetes API said nothing for ${options.silentMs / 1000} s in a watch`;
    throw new KubeFault('kube-timeout', message);
  } finally {
    clearTimeout(timer);
    answer.destroy();
  }
}

function parseEvent<T>(line: string): WatchEvent<T> {
  const event = parseObject(line);
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return event as WatchEvent<T>;
    case 'ERROR': {
      const text = JSON.stringify(event.object ?? {});
      throw refused(statusObject(text).code ?? 500, text, undefined);
    }
    default:
      throw new KubeFault(
        'kube-bad-answer',
        `the Kubernetes API sent an event of type ${String(event.type)}`,
      );
  }
}

function parseObject(line: string): { readonly type?: unknown; readonly object?: unknown } {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // Said below.
  }
  throw new KubeFault('kube-bad-answer', 'the Kubernetes API sent an event that is no JSON object');
}
