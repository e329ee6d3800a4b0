import assert from 'node:assert/strict';
import { it } from 'node:test';
import { adminJson } from '../../src/proxy/admin/model/admin-json.ts';
import { ageText, bytesText, roundTripText } from '../../src/proxy/admin/model/amounts.ts';

it('ages have one unit or two', () => {
  const ages = [-1, 0, 59.9, 60, 3_599, 3_600, 14_700, 86_399, 86_400, 273_600, 86_400 * 400];
  assert.deepEqual(ages.map(ageText), [
    '0s',
    '0s',
    '59s',
    '1m',
    '59m',
    '1h00m',
    '4h05m',
    '23h59m',
    '1d00h',
    '3d04h',
    '400d',
  ]);
});

it('bytes are decimal and have at most three digits', () => {
  const amounts = [0, 999, 1_000, 9_949, 9_950, 84_000, 999_499, 999_500, 1_200_000, 31e9, 5e15];
  assert.deepEqual(amounts.map(bytesText), [
    '0 B',
    '999 B',
    '1.0 kB',
    '9.9 kB',
    '10 kB',
    '84 kB',
    '999 kB',
    '1.0 MB',
    '1.2 MB',
    '31 GB',
    '5000 TB',
  ]);
});

it('round trips are milliseconds, then seconds', () => {
  assert.deepEqual([undefined, 0.0004, 0.0123, 1.5, 20].map(roundTripText), [
    '-',
    '0.4ms',
    '12ms',
    '1.5s',
    '20s',
  ]);
});

it('JSON of the admin API has int64 as text, times as RFC 3339, and nothing that a terminal obeys', () => {
  const tunnel = {
    bytesToNode: 2 ** 40,
    since: new Date(0),
    id: 'a\u009b\u202e',
    tunnels: 3,
    relayed: false,
  };
  const text = adminJson(tunnel);
  assert.equal(
    text,
    '{"bytesToNode":"1099511627776","since":"1970-01-01T00:00:00.000Z","id":"a\\u009b\\u202e","tunnels":3}',
  );
  assert.equal((JSON.parse(text) as { id: string }).id, tunnel.id);
});
