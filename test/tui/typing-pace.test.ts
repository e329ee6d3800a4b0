import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TypingPace } from '../../src/tui/terminal/typing-pace.ts';

/** What it says of reads: bytes, and milliseconds after the one before. */
function paceOf(...reads: readonly (readonly [bytes: number, afterMs: number])[]): boolean[] {
  const pace = new TypingPace();
  let nowMs = 0;
  return reads.map(([bytes, afterMs]) => {
    nowMs += afterMs;
    return pace.read(bytes, nowMs);
  });
}

it('keys that come one after the other are typed, those of an escape sequence, too', () => {
  assert.deepEqual(paceOf([1, 0], [1, 30], [3, 80], [1, 30]), [true, true, true, true]);
});

it('a block is none, and neither is what comes soon after one', () => {
  assert.deepEqual(paceOf([1, 0], [4_095, 30], [1, 2], [1, 300], [1, 400]), [
    true,
    false,
    false,
    false,
    true,
  ]);
});

it('bytes that come faster than fingers are not typed', () => {
  assert.deepEqual(paceOf([1, 0], [1, 1], [1, 1], [1, 50]), [true, false, false, true]);
});
