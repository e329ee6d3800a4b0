import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutTo } from '../../src/commands/fit-table.ts';
import { RowWatch } from '../../src/commands/row-watch.ts';
import { formatTable } from '../../src/commands/table.ts';

const HEAD = ['ID', 'CLIENT', 'AGE', 'WHY'];
const ROW = ['node-with-a-long-id', '10.0.0.7:4000', '3m', 'drained because of a kernel patch'];
const fit = (columns: number) => ({
  columns,
  mark: '…',
  shorten: [
    ['WHY', 10],
    ['CLIENT', 6],
  ] as const,
  drop: ['CLIENT', 'AGE'],
});
const lines = (columns: number): string[] => formatTable(HEAD, [ROW], fit(columns)).split('\n').slice(0, -1);

describe('a table on a terminal', () => {
  it('is whole where there is room', () => {
    assert.equal(formatTable(HEAD, [ROW], fit(80)), formatTable(HEAD, [ROW]));
  });

  it('shortens what matters least, and no more than it must', () => {
    assert.deepEqual(lines(60), [
      'ID                   CLIENT         AGE  WHY',
      'node-with-a-long-id  10.0.0.7:4000  3m   drained because of…',
    ]);
    assert.equal(lines(46)[1], 'node-with-a-long-id  10.0.0.…  3m   drained b…');
  });

  it('leaves columns out when that is not enough, and never cuts an ID', () => {
    assert.deepEqual(
      lines(35),
      ['ID                   WHY', 'node-with-a-long-id  drained becau…'].map((l) => l),
    );
    assert.deepEqual(lines(10), ['ID                   WHY', 'node-with-a-long-id  drained b…']);
  });

  it('keeps its columns while it is watched', () => {
    const rows = new RowWatch(HEAD, 'gone', fit(35));
    const row = (id: string, cells: readonly string[]) => ({ id, cells, key: id });
    assert.equal(rows.next([row('a', ROW)]), `${lines(35).join('\n')}\n`);
    const [id, ...rest] = ROW;
    assert.equal(
      rows.next([row('a', ROW), row('b', [`${id}!`, ...rest])]),
      'node-with-a-long-id!  drained becau…\n',
    );
  });

  it('cuts between characters, by their width', () => {
    assert.equal(cutTo('日本語', 5, '…'), '日本…');
    assert.equal(cutTo('日本語', 4, '…'), '日…');
    assert.equal(cutTo('ab cd', 4, '~'), 'ab~');
    assert.equal(cutTo('abcd', 4, '~'), 'abcd');
  });
});
