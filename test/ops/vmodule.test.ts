import assert from 'node:assert/strict';
import { it } from 'node:test';
import { globMatcher, parseVmodule } from '../../src/proxy/ops/vmodule.ts';

it('patterns match as those of filepath.Match in Go', () => {
  const cases: [string, string, boolean][] = [
    ['backends', 'backends', true],
    ['backends', 'backend', false],
    ['dial*', 'dial-desk', true],
    ['*', '', true],
    ['d?al', 'dial', true],
    ['d?al', 'dal', false],
    ['[a-c]*', 'backends', true],
    ['[^a-c]*', 'backends', false],
    ['[b]', 'b', true],
    ['[a\\-c]', '-', true],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['a.b', 'axb', false],
    // Malformed: no match.
    ['[', '[', false],
    ['[]a]', ']', false],
    ['[c-a]', 'b', false],
    ['a\\', 'a', false],
    ['[-x]', 'x', false],
  ];
  for (const [pattern, name, expected] of cases) {
    assert.equal(globMatcher(pattern)(name), expected, `${pattern} ${name}`);
  }
});

it('a list that cannot be read is refused in words', () => {
  for (const text of ['a', 'a=', '=1', 'a=x', 'a=1=2', 'a=-1', 'a=1,b']) {
    assert.ok('problem' in parseVmodule(text), text);
  }
  assert.deepEqual(parseVmodule(''), []);
  assert.equal((parseVmodule('a=1,,b=0,') as unknown[]).length, 1);
});
