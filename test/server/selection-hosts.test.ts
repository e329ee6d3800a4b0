import assert from 'node:assert/strict';
import { it } from 'node:test';
import { canonicalHost, hostOf } from '../../src/proxy/server/selection/canonical-host.ts';
import { Fleet } from './selection-fleet.ts';

it('the host of an address has neither port nor brackets', () => {
  const expected: [string, string][] = [
    ['10.0.0.1:10250', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.1'],
    ['node-a:443', 'node-a'],
    ['node-a:', 'node-a'],
    [':443', ''],
    ['', ''],
    ['[fd00::1]:443', 'fd00::1'],
    ['[fd00::1]', 'fd00::1'],
    ['fd00::1', 'fd00::1'],
    ['::1', '::1'],
    ['[fd00::1', ''],
    ['[', ''],
    ['[]:1', ''],
  ];
  for (const [address, host] of expected) assert.equal(hostOf(address), host, address);
});

it('hosts that are the same have one canonical form', () => {
  const expected: [string, string[]][] = [
    ['node-a.example', ['node-a.example', 'NODE-A.Example', 'node-a.example.', '[node-a.example]']],
    ['10.0.0.1', ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:a00:1', '[0:0:0:0:0:ffff:0a00:0001]']],
    ['fd00::1', ['fd00::1', 'FD00:0:0:0:0:0:0:1', '[fd00:0000::0001]']],
    ['fe80::1%eth0', ['fe80::1%eth0', 'FE80:0::1%eth0']],
    ['::', ['::', '0:0:0:0:0:0:0:0']],
    ['not:an:address', ['not:an:address', 'Not:An:Address']],
    ['', ['', '.']],
  ];
  for (const [canonical, spellings] of expected) {
    for (const spelling of spellings) assert.equal(canonicalHost(spelling), canonical, spelling);
    assert.equal(canonicalHost(canonical), canonical);
  }
});

it('destHost finds an agent by any spelling of its hosts, on either side', () => {
  const fleet = new Fleet(['destHost']);
  const v6 = fleet.go('v6', 'ipv6=FD00:0:0::1');
  const v4 = fleet.go('v4', 'ipv6=::ffff:10.0.0.1&host=Node-B.');
  for (const address of ['[fd00::1]:443', '[FD00:0:0:0::0001]:443', 'fd00::1']) {
    assert.equal(fleet.dial(address), v6.name, address);
  }
  for (const address of ['10.0.0.1:1', '[::ffff:a00:1]:1', 'node-b:1', 'NODE-B.:1']) {
    assert.equal(fleet.dial(address), v4.name, address);
  }
});

it('destHost puts an agent into a pool once, however often it names the host', () => {
  const fleet = new Fleet(['destHost']);
  const stream = fleet.go('a', 'host=node-a&host=NODE-A&host=node-a.&ipv4=10.0.0.1&ipv6=::ffff:10.0.0.1');
  const pools = [...fleet.registry.strategies[0]!.pools()];
  assert.deepEqual(
    pools.map((pool) => [pool.key, pool.size]),
    [
      ['10.0.0.1', 1],
      ['node-a', 1],
    ],
  );
  fleet.registry.remove(stream);
  assert.deepEqual([...fleet.registry.strategies[0]!.pools()], []);
});

it('destHost serves neither ranges nor the empty host', () => {
  const fleet = new Fleet(['destHost']);
  fleet.go('a', 'cidr=10.0.0.0/8&host=.');
  for (const address of ['10.0.0.1:1', ':1', '']) assert.equal(fleet.dial(address), 'no-match', address);
});
