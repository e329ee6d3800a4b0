import { oneLine } from '../ops/fault.ts';

const PHRASES: Record<number, string> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
};

/** The head of a tunnel. Complete, and before any byte of the tunnel. */
export const established = Buffer.from('HTTP/1.1 200 Connection Established\r\n\r\n', 'latin1');

/** A refusal with its reason in the body. */
export function refusal(status: number, reason: string): Buffer {
  const body = Buffer.from(`${oneLine(reason, 2000)}\n`, 'utf8');
  const allow = status === 405 ? 'Allow: CONNECT\r\n' : '';
  const head =
    `HTTP/1.1 ${status} ${PHRASES[status] ?? 'Error'}\r\n${allow}Content-Type: text/plain; charset=utf-8\r\n` +
    `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}
