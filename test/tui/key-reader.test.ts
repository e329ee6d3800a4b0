import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Key } from '../../src/tui/terminal/key.ts';
import { KeyReader } from '../../src/tui/terminal/key-reader.ts';

/** Keys in short: letters as they are, names in angle brackets, pastes in braces. */
function short(keys: readonly Key[]): string {
  return keys
    .map((key) => (key.kind === 'text' ? key.text : key.kind === 'paste' ? `{${key.text}}` : `<${key.name}>`))
    .join('');
}

function readAll(...chunks: readonly (string | Buffer)[]): string {
  const reader = new KeyReader();
  return short(chunks.flatMap((chunk) => reader.read(Buffer.from(chunk as string))));
}

describe('keys of a terminal', () => {
  for (const [what, bytes, keys] of [
    ['letters that come together are keys of their own', 'jj', 'jj'],
    ['arrows of both kinds', '\u001b[A\u001bOB', '<up><down>'],
    ['Enter, Tab, Shift-Tab, Backspace', '\r\t\u001b[Z\u007f', '<enter><tab><shift-tab><backspace>'],
    ['a paste is one key', '\u001b[200~daily\r\u001b[201~q', '{daily\r}q'],
    ['an arrow with a modifier is no key of ours', '\u001b[1;5A', '<unknown>'],
    ['Alt and a letter is not the letter', '\u001bd', '<unknown>'],
    ['two escapes: the first is one', '\u001b\u001b[A', '<escape><up>'],
    ['wide letters', '日🚀', '日🚀'],
    ['a control character without a meaning is no text', '\u0002', '<unknown>'],
  ] as const) {
    it(what, () => assert.equal(readAll(bytes), keys));
  }

  it('a lone escape is one when nothing follows', () => {
    const reader = new KeyReader();
    assert.deepEqual(reader.read(Buffer.from('\u001b')), []);
    assert.ok(reader.waiting);
    assert.equal(short(reader.flush()), '<escape>');
    assert.ok(!reader.waiting);
  });

  it('reads the same however the bytes are cut', () => {
    const bytes = Buffer.from('jé日\u001b[A\u001b[200~pasted 日\rtext\u001b[201~\u001b[5~x');
    const whole = readAll(bytes);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 6 }), (cuts) => {
        const at = [0, ...[...new Set(cuts)].sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        assert.equal(readAll(...chunks), whole);
      }),
    );
  });

  it('nothing of a paste that is too long becomes keys, whatever its length and wherever it is cut', () => {
    for (const size of [8_192, 8_191, 70_000]) {
      const pieces = [
        '\u001b[200~',
        ...Array.from({ length: 20 }, () => 'd\r'.repeat(size / 2)),
        '\u001b[20',
      ];
      assert.equal(readAll(...pieces, '1~q'), '{}q');
    }
  });

  it('a paste after one that was too long is whole again', () => {
    assert.equal(
      readAll('\u001b[200~', 'x'.repeat(70_000), '\u001b[201~', '\u001b[200~ab\u001b[201~'),
      '{}{ab}',
    );
  });

  it('Ctrl-C gets out of a paste whose end was lost', () => {
    assert.equal(readAll('\u001b[200~daily\r', 'q', '\u0003', 'q'), '<ctrl-c>q');
  });
});
