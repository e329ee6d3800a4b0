import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { settings } from '../settings.ts';
import { until } from '../until.ts';

const AUDIENCE = 'system:konnectivity-server';
const PODS = '/api/v1/namespaces/kube-system/pods';
const SECOND = 2;
/** How either agent says that it was refused. */
const REFUSAL = /unauthenticated|authenticat|token|refused/i;

/** Which agents the server lets in. */
export function tokens(cluster: Cluster): void {
  const skip = settings.tokens ? false : '$KUBE_TOKENS is 0';

  it('an agent with the right token is let in', { skip }, async () => {
    cluster.proxies.startAgent(SECOND);
    await until('the agent is ready', () => cluster.proxies.agentReady(SECOND));
    await cluster.proxies.stopAgent(SECOND);
  });

  const wrong: Readonly<Record<string, () => Promise<string>>> = {
    'for another audience': () => cluster.api.token('kube-system', 'konnectivity-agent', 'other'),
    'of another account': () => cluster.api.token('kube-system', 'other', AUDIENCE),
    'of another namespace': () => cluster.api.token('default', 'default', AUDIENCE),
    'that is garbage': async () => 'garbage',
    'bound to a deleted Pod': () => tokenOfDeletedPod(cluster),
  };
  for (const [name, make] of Object.entries(wrong)) {
    it(`an agent with a token ${name} is refused`, { skip }, async () => {
      const file = cluster.file('wrong.token', await make());
      const agent = cluster.proxies.startAgent(SECOND, file);
      const before = agent.log.length;
      try {
        await until('the agent says that it was refused', async () => {
          assert.ok(agent.running, agent.log.slice(before));
          assert.equal(await cluster.proxies.agentReady(SECOND), false);
          return agent.log
            .slice(before)
            .split('\n')
            .some((line) => /^[EW]|err=|reason=/.test(line) && REFUSAL.test(line));
        });
        assert.equal(await cluster.proxies.serverMetric('ready_backend_connections'), 1);
      } finally {
        await cluster.proxies.stopAgent(SECOND);
      }
    });
  }
}

async function tokenOfDeletedPod(cluster: Cluster): Promise<string> {
  const spec = {
    nodeName: 'node-a',
    serviceAccountName: 'konnectivity-agent',
    containers: [{ name: 'c', image: 'none' }],
  };
  const pod = await cluster.api.json<{ metadata: { name: string; uid: string } }>('POST', PODS, {
    metadata: { generateName: 'gone-' },
    spec,
  });
  const { name, uid } = pod.metadata;
  const token = await cluster.api.token('kube-system', 'konnectivity-agent', AUDIENCE, { name, uid });
  await cluster.api.json('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 });
  await until(
    'the Pod is gone',
    async () => (await cluster.api.request('GET', `${PODS}/${name}`)).status === 404,
  );
  return token;
}
