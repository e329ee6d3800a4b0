import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { createLog } from '../../src/proxy/ops/log.ts';
import { RepeatedLine, type RepeatedLineOptions } from '../../src/proxy/ops/repeated-line.ts';

function repeated(options?: RepeatedLineOptions) {
  const lines: string[] = [];
  const log = createLog({ verbosity: 2, skipHeaders: true, write: (line) => lines.push(line.trimEnd()) });
  return { lines, line: new RepeatedLine(log, options) };
}

it('a repeated line is printed once a minute, the last one with the count of those since', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { lines, line } = repeated();
    for (let i = 0; i < 100; i++) line.warn('tls', 'A connection failed', { i });
    assert.deepEqual(lines, ['"A connection failed" i=0']);
    mock.timers.tick(60_000);
    assert.deepEqual(lines.slice(1), ['"A connection failed" i=99 timesSinceLastLine=99']);
  } finally {
    mock.timers.reset();
  }
});

it('after a quiet minute the next line is printed at once', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { lines, line } = repeated();
    line.warn('tls', 'A connection failed');
    mock.timers.tick(60_000);
    assert.equal(lines.length, 1);
    line.warn('tls', 'A connection failed');
    assert.equal(lines.length, 2);
  } finally {
    mock.timers.reset();
  }
});

it('as many lines as the burst allows are printed one by one', () => {
  const { lines, line } = repeated({ burst: 3 });
  for (let i = 0; i < 10; i++) line.info('dial', 2, 'Dial failed');
  assert.equal(lines.length, 3);
});

it('kinds do not silence each other, up to a bound', () => {
  const { lines, line } = repeated();
  for (let i = 0; i < 1000; i++) line.warn(`kind ${i}`, 'A connection failed');
  assert.equal(lines.length, 101);
});

it('an info line above the verbosity is neither printed nor counted', () => {
  const { lines, line } = repeated();
  line.info('dial', 3, 'Dial failed');
  line.info('dial', 2, 'Dial failed');
  assert.equal(lines.length, 1);
});
