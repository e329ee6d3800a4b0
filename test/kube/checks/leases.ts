import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { settings } from '../settings.ts';
import { until } from '../until.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const MINE = `${LEASES}/konnectivity-proxy-server-server-1`;
const OTHER = 'konnectivity-proxy-server-other';

interface Lease {
  readonly metadata: { readonly labels?: Record<string, string> };
  readonly spec: {
    readonly renewTime?: string;
    readonly leaseDurationSeconds?: number;
    readonly holderIdentity?: string;
  };
}

/** The server's Lease, and what both make of the Leases of others. */
export function leases(cluster: Cluster): void {
  const skip = settings.leases ? false : '$KUBE_LEASES is 0';
  const makeOther = async (renewTime: Date, leaseDurationSeconds: number): Promise<void> => {
    // MicroTime has six digits.
    const renewed = renewTime.toISOString().replace('Z', '000Z');
    await cluster.api.json('POST', LEASES, {
      metadata: { name: OTHER, labels: { 'k8s-app': 'konnectivity-server' } },
      spec: { holderIdentity: 'other', leaseDurationSeconds, renewTime: renewed, acquireTime: renewed },
    });
  };
  const counts = (number: number) => async () =>
    (await cluster.proxies.agentMetric(1, 'known_server_count')) === number;

  it('the server publishes its Lease', { skip }, async () => {
    const { metadata, spec } = await cluster.api.json<Lease>('GET', MINE);
    assert.equal(metadata.labels?.['k8s-app'], 'konnectivity-server');
    assert.equal(spec.leaseDurationSeconds, 30);
    assert.ok(spec.holderIdentity);
  });

  it('the server renews its Lease', { skip }, async () => {
    const { spec } = await cluster.api.json<Lease>('GET', MINE);
    await until('the Lease is renewed', async () => {
      return (await cluster.api.json<Lease>('GET', MINE)).spec.renewTime !== spec.renewTime;
    });
  });

  it('the agent counts the Leases of servers', { skip }, async () => {
    await until('one server is known', counts(1));
    await makeOther(new Date(), 3600);
    await until('two servers are known', counts(2));
    await cluster.api.json('DELETE', `${LEASES}/${OTHER}`);
    await until('one server is known', counts(1));
  });

  it('the server collects a Lease that has run out', { skip }, async () => {
    await makeOther(new Date(Date.now() - 3_600_000), 30);
    await until('the Lease is gone', async () => {
      return (await cluster.api.request('GET', `${LEASES}/${OTHER}`)).status === 404;
    });
  });

  it('the server takes its Lease along when it stops', { skip }, async () => {
    await cluster.proxies.stopServer();
    assert.equal((await cluster.api.request('GET', MINE)).status, 404);
    await cluster.proxies.startServer();
    await cluster.proxies.ready();
  });
}
