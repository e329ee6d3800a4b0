import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Replacements } from '../../src/proxy/agent/replacements.ts';

const links = [{ replacements: -1 }, { replacements: -1 }];

test('the least that the servers say counts, once all have said something of this drain', () => {
  const replacements = new Replacements(() => links);
  replacements.drainsFor('order-1');
  assert.equal(replacements.least, -1);
  links[0]!.replacements = 3;
  assert.equal(replacements.least, -1);
  links[1]!.replacements = 0;
  assert.equal(replacements.least, 0);
  replacements.drainsFor('order-1');
  assert.equal(replacements.least, 0);
  replacements.drainsFor('leaving');
  assert.equal(replacements.least, -1);
});

test('nothing is said without a drain, or without a server', () => {
  const replacements = new Replacements(() => links);
  for (const link of links) link.replacements = 3;
  assert.equal(replacements.least, -1);
  const alone = new Replacements(() => []);
  alone.drainsFor('order-1');
  assert.equal(alone.least, -1);
});
