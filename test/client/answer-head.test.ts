import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_ANSWER_HEAD_BYTES, parseAnswerHead } from '../../src/proxy/client/answer-head.ts';

const parse = (text: string): ReturnType<typeof parseAnswerHead> =>
  parseAnswerHead(Buffer.from(text, 'latin1'));

describe('the head of an answer to CONNECT', () => {
  it('is read with what follows it', () => {
    const head = parse('HTTP/1.1 200 Connection Established\r\nX-Y: z\r\n\r\nrest');
    assert.ok(head.kind === 'answer');
    assert.deepEqual([head.status, head.phrase, String(head.rest)], [200, 'Connection Established', 'rest']);
  });

  it('may lack a reason phrase', () => {
    const head = parse('HTTP/1.0 503\r\nContent-Length: 7\r\n\r\n');
    assert.ok(head.kind === 'answer');
    assert.deepEqual([head.status, head.phrase, head.contentLength], [503, '', 7]);
  });

  it('is waited for, byte by byte', () => {
    const whole = 'HTTP/1.1 200 OK\r\n\r\n';
    for (let i = 0; i < whole.length; i++)
      assert.equal(parse(whole.slice(0, i)).kind, 'incomplete', String(i));
  });

  for (const [what, text] of [
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['is HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['is TLS', '\x15\x03\x01\x00\x02'],
    ['has a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['is informational', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['has a line that is no field', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n'],
    ['has a bare line feed', 'HTTP/1.1 200 OK\nX: y\r\n\r\n'],
    ['has a length that is no number', 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: many\r\n\r\n'],
  ] as const) {
    it(`is refused when it ${what}`, () => assert.equal(parse(text).kind, 'bad'));
  }

  it('is refused when it does not end', () => {
    const text = `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(MAX_ANSWER_HEAD_BYTES)}`;
    assert.equal(parse(text).kind, 'bad');
  });
});
