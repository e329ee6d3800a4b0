/** The largest head of an answer that is read, in bytes. */
export const MAX_ANSWER_HEAD_BYTES = 16 * 1024;

/** What the bytes of an answer read so far amount to. */
export type AnswerHead =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'bad'; readonly why: string }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly phrase: string;
      /** Of a refusal's body; undefined when the head does not say. */
      readonly contentLength: number | undefined;
      readonly rest: Buffer;
    };

/** Reads the head of the answer to CONNECT. Strict: CRLF only, HTTP/1.x, a status from 200 to 599. */
export function parseAnswerHead(bytes: Buffer): AnswerHead {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0 ? bytes.length >= MAX_ANSWER_HEAD_BYTES : end + 4 > MAX_ANSWER_HEAD_BYTES) {
    return { kind: 'bad', why: `its head is larger than ${MAX_ANSWER_HEAD_BYTES} bytes` };
  }
  if (end < 0) return unfinished(bytes);
  const [line = '', ...fields] = bytes.toString('latin1', 0, end).split('\r\n');
  const match = /^HTTP\/1\.[01] ([2-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/.exec(line);
  if (match === null) return { kind: 'bad', why: `"${line.slice(0, 80)}" is no status line` };
  let contentLength: number | undefined;
  for (const field of fields) {
    const parts = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(field);
    if (parts === null) return { kind: 'bad', why: `"${field.slice(0, 80)}" is no header field` };
    if (parts[1]?.toLowerCase() !== 'content-length') continue;
    if (!/^\d{1,15}[ \t]*$/.test(parts[2] ?? ''))
      return { kind: 'bad', why: 'its Content-Length is no number' };
    contentLength = Number(parts[2]);
  }
  const [, status, phrase = ''] = match;
  return { kind: 'answer', status: Number(status), phrase, contentLength, rest: bytes.subarray(end + 4) };
}

/** What cannot become an answer any more is said at once: a server that waits for us would not say more. */
function unfinished(bytes: Buffer): AnswerHead {
  const start = 'HTTP/1.';
  const begun = bytes.toString('latin1', 0, start.length);
  return start.startsWith(begun)
    ? { kind: 'incomplete' }
    : { kind: 'bad', why: `it begins with ${JSON.stringify(bytes.toString('latin1', 0, 40))}` };
}
