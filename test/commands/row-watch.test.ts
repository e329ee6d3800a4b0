import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RowWatch } from '../../src/commands/row-watch.ts';
import { formatTable } from '../../src/commands/table.ts';

const row = (id: string, name = id) => ({ id, cells: [name, 'x'], key: 'k', goneText: `ended ${id}` });

describe('rows that are watched', () => {
  it('may have the same first cell, and go one by one', () => {
    const rows = new RowWatch(['TUNNEL', 'AGENT'], 'ended');
    rows.next([row('one b', 'b'), row('two b', 'b')]);
    assert.equal(rows.next([row('one b', 'b'), row('two b', 'b')]), '');
    assert.equal(rows.next([row('one b', 'b')]), 'b       ended two b\n');
  });

  it('are not gone when somebody who may know of them did not answer', () => {
    const rows = new RowWatch(['TUNNEL', 'AGENT'], 'ended');
    rows.next([row('a'), row('b')]);
    assert.equal(rows.next([row('a')], false), '');
    assert.equal(rows.next([row('a')]), 'b       ended b\n');
  });
});

describe('a table', () => {
  it('is in line on a terminal also with wide characters', () => {
    assert.equal(formatTable(['A', 'B'], [['日本', 'x']]), 'A     B\n日本  x\n');
  });
});
