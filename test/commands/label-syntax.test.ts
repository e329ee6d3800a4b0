import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { selectorProblem } from '../../src/commands/flags/label-syntax.ts';

describe('label selectors', () => {
  for (const text of [
    '',
    'a',
    '!a',
    'a=b',
    'a==b',
    'a!=b',
    'a=',
    'example.com/a=b',
    'a in (b,c),d notin (e)',
    'a in (b, c)',
    'n>1,m<5',
    'k8s-app=konnectivity-server , x = y',
  ]) {
    test(`"${text}" is one`, () => assert.equal(selectorProblem(text), undefined));
  }
  for (const text of [
    'a=b,',
    '=b',
    'a=b=c',
    'a in b',
    'a in (b',
    'a~b',
    '-a',
    'a=-b',
    'A.b_/c',
    'n>x',
    `${'a'.repeat(64)}=b`,
  ]) {
    test(`"${text}" is none`, () => assert.equal(typeof selectorProblem(text), 'string'));
  }
});
