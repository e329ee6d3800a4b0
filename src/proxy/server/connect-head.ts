/** The largest CONNECT head that is read, in bytes. */
export const MAX_HEAD_BYTES = 16 * 1024;

/** What the bytes read so far amount to. */
export type HeadResult =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'connect'; readonly target: string; readonly userAgent: string; readonly rest: Buffer }
  | { readonly kind: 'refused'; readonly status: 400 | 405 | 431 | 505; readonly reason: string };

/**
 * Reads the head of an HTTP/1.x CONNECT request (RFC 9110, 9.3.6). Only what a tunnel needs is looked at: the request
 * line and the end of the head; header fields pass unread but for User-Agent. `bytes` is all that came so far.
 */
export function parseConnectHead(bytes: Buffer): HeadResult {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return unfinished(bytes);
  if (end + 4 > MAX_HEAD_BYTES) return tooLarge();
  const head = bytes.toString('latin1', 0, end);
  const lineEnd = head.indexOf('\r\n');
  const line = lineEnd < 0 ? head : head.slice(0, lineEnd);
  const refusal = checkRequestLine(line);
  if (refusal !== undefined) return refusal;
  const target = line.split(' ')[1] as string;
  if (!isTarget(target)) {
    return refused(400, `bad target "${target}": CONNECT needs host:port with a port from 1 to 65535`);
  }
  const agent = /\r\nuser-agent:[ \t]*([^\r\n]*)/i.exec(head.slice(lineEnd < 0 ? head.length : lineEnd));
  return { kind: 'connect', target, userAgent: agent?.[1] ?? '', rest: bytes.subarray(end + 4) };
}

function unfinished(bytes: Buffer): HeadResult {
  if (bytes.length >= MAX_HEAD_BYTES) return tooLarge();
  // Said as early as the first line is whole, so that a garbage client does not have to run into the time-out.
  const lineEnd = bytes.indexOf('\n');
  if (lineEnd >= 0) {
    const line = bytes.toString('latin1', 0, lineEnd).replace(/\r$/, '');
    const refusal = checkRequestLine(line);
    // Method and version are judged at the end of the head, so that the client has sent all of it by then.
    if (refusal?.kind === 'refused' && refusal.status === 400) return refusal;
  } else if (bytes.length > 0 && !/^[A-Za-z]/.test(bytes.toString('latin1', 0, 1))) {
    return refused(400, 'not an HTTP request');
  }
  return { kind: 'incomplete' };
}

function checkRequestLine(line: string): HeadResult | undefined {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/(\d)\.(\d)$/.exec(line);
  if (match === null) return refused(400, 'not an HTTP request');
  if (match[1] !== 'CONNECT')
    return refused(405, `method ${match[1]} is not allowed: this is a CONNECT proxy`);
  if (match[3] !== '1') return refused(505, `HTTP/${match[3]}.${match[4]} is not supported: use HTTP/1.1`);
  return undefined;
}

/** True for host:port and [IPv6]:port. */
function isTarget(target: string): boolean {
  const match = /^(?:\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[^\s:/@?#[\]\\]{1,255}):(\d{1,5})$/.exec(target);
  if (match === null) return false;
  const port = Number(match[1]);
  return port >= 1 && port <= 65535;
}

function refused(status: 400 | 405 | 431 | 505, reason: string): HeadResult {
  return { kind: 'refused', status, reason };
}

function tooLarge(): HeadResult {
  return refused(431, `the request head is larger than ${MAX_HEAD_BYTES} bytes`);
}
