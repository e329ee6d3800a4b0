import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Tone } from '../../src/tui/layout/span.ts';
import { colourLevel, painter } from '../../src/tui/paint/paint.ts';

const TONES: readonly Tone[] = ['plain', 'quiet', 'strong', 'good', 'busy', 'done', 'bad', 'key'];

describe('colours', () => {
  for (const [env, level] of [
    [{ TERM: 'xterm-256color' }, 1],
    [{ TERM: 'xterm-256color', NO_COLOR: '1' }, 0],
    [{ TERM: 'xterm-256color', NO_COLOR: '' }, 1],
    [{ TERM: 'xterm-256color', COLORTERM: 'truecolor', FORCE_COLOR: '3' }, 1],
    [{ TERM: 'dumb' }, 0],
    [{ TERM: 'vt100' }, 0],
    [{}, 0],
  ] as const) {
    it(`are ${level === 0 ? 'off' : 'the sixteen'} with ${JSON.stringify(env)}`, () => {
      assert.equal(colourLevel(env), level);
    });
  }

  it('are such that light and dark terminals both show them', () => {
    for (const tone of TONES) {
      for (const stale of [false, true]) {
        const painted = painter(1)({ spans: [{ text: 'x', tone }] }, stale);
        const codes = [...painted.matchAll(/\u001b\[([\d;]*)m/g)].map((match) => match[1] ?? '');
        // Neither black nor white, nor the bright ones, nor a ground of its own; bold yellow is a bright one.
        for (const code of codes) assert.match(code, /^(0|1|2|4|22|24|31|32|33|35|36|39)$/, tone);
        assert.ok(!(codes.includes('1') && codes.includes('33')), tone);
      }
    }
  });

  it('leave nothing but the selected row where there are none', () => {
    const spans = TONES.map((tone) => ({ text: 'x', tone }));
    assert.equal(painter(0)({ spans }, false), 'x'.repeat(TONES.length));
  });
});
