import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  formatIdentifiers,
  IdentifierError,
  NO_IDENTIFIERS,
  parseIdentifiers,
  parseIdentifiersStrictly,
} from '../../src/proxy/wire/identifiers.ts';

describe('identifiers', () => {
  it('are read from a query in which every kind may be repeated', () => {
    const query =
      'ipv4=10.0.0.1&host=a&ipv4=10.0.0.2&ipv6=fd00%3A%3A1&cidr=10.0.0.0%2F8&default-route=true&host=b+c';
    assert.deepEqual(parseIdentifiers(query), {
      ipv4: ['10.0.0.1', '10.0.0.2'],
      ipv6: ['fd00::1'],
      host: ['a', 'b c'],
      cidr: ['10.0.0.0/8'],
      defaultRoute: true,
    });
  });

  it('of a peer may be of unknown kinds, empty or broken: those are skipped', () => {
    for (const query of ['', '&', 'uid=1', 'host=', 'host', '=a', 'host=%zz', '%zz=a', 'default-route=yes']) {
      assert.deepEqual(parseIdentifiers(query), NO_IDENTIFIERS, query);
    }
    assert.deepEqual(parseIdentifiers('later=1&host=a&host=%f').host, ['a']);
  });

  it('keep a repeated value once', () => {
    assert.deepEqual(parseIdentifiers('host=a&host=a').host, ['a']);
  });

  it('take every boolean that Go takes for default-route', () => {
    for (const yes of ['1', 't', 'T', 'TRUE', 'true', 'True']) {
      assert.equal(parseIdentifiersStrictly(`default-route=${yes}`).defaultRoute, true, yes);
    }
    for (const no of ['0', 'f', 'F', 'FALSE', 'false', 'False']) {
      assert.equal(parseIdentifiersStrictly(`default-route=${no}`).defaultRoute, false, no);
    }
  });

  it('of an operator are refused with the words that are wrong', () => {
    const refused: [string, RegExp][] = [
      [
        'uid=1',
        /unknown identifier kind "uid" in "uid=1"; the kinds are ipv4, ipv6, host, cidr, default-route/,
      ],
      ['host=%zz', /"host=%zz" is not URL-encoded/],
      ['host=a&ipv4=node-a', /"ipv4=node-a": "node-a" is not a valid ipv4/],
      ['ipv6=', /"ipv6=": "" is not a valid ipv6/],
      ['cidr=10.0.0.0', /"10.0.0.0" is not a valid cidr/],
      ['cidr=10.0.0.0/33', /is not a valid cidr/],
      ['default-route=yes', /default-route is either true or false/],
    ];
    for (const [query, message] of refused) {
      assert.throws(
        () => parseIdentifiersStrictly(query),
        (error) => error instanceof IdentifierError && message.test(error.message),
        query,
      );
    }
  });

  it('of an operator are taken as they are when nothing is wrong', () => {
    const query = 'ipv4=10.0.0.1&ipv6=fd00::1&host=node-a&cidr=10.0.0.0/8&cidr=fd00::/64&default-route=true';
    assert.deepEqual(parseIdentifiersStrictly(query), parseIdentifiers(query));
  });

  it('come back the same when they are written and read', () => {
    const values = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1 }));
    const identifiers = fc.record({
      ipv4: values,
      ipv6: values,
      host: values,
      cidr: values,
      defaultRoute: fc.boolean(),
    });
    fc.assert(
      fc.property(identifiers, (ids) => {
        const written = formatIdentifiers(ids);
        assert.match(written, /^[\x21-\x7e]*$/);
        assert.deepEqual(parseIdentifiers(written), ids);
      }),
    );
  });
});
