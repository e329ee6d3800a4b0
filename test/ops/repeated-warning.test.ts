import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLog } from '../../src/proxy/ops/log.ts';
import { RepeatedWarning } from '../../src/proxy/ops/repeated-warning.ts';

function warnings() {
  const lines: string[] = [];
  const clock = { ms: 0 };
  const log = createLog({ verbosity: 0, write: (line) => lines.push(line) });
  return { lines, clock, repeated: new RepeatedWarning(log, () => clock.ms) };
}

it('a repeated warning is logged once a minute, with the count of those between', () => {
  const { lines, clock, repeated } = warnings();
  for (let i = 0; i < 100; i++) repeated.warn('tls', 'A connection failed');
  assert.equal(lines.length, 1);
  clock.ms = 60_000;
  repeated.warn('tls', 'A connection failed');
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', /alsoSinceLastLine=99/);
});

it('warnings of different kinds do not silence each other, up to a bound', () => {
  const { lines, repeated } = warnings();
  for (let i = 0; i < 1000; i++) repeated.warn(`kind ${i}`, 'A connection failed');
  assert.equal(lines.length, 101);
});
