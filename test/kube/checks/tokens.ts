import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { settings } from '../settings.ts';
import { until } from '../until.ts';

const AUDIENCE = 'system:konnectivity-server';
const PODS = '/api/v1/namespaces/kube-system/pods';
const SECOND = 2;
/** How servers, and our agents, say that an agent was refused. */
const REFUSAL = /authenticat|token|refused/i;

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
      const { server } = cluster.proxies;
      const [serverBefore, agentBefore] = [server.log.length, agent.log.length];
      try {
        // The Go agent says nothing of it, and our server does not say it again and again.
        await until('the server or the agent says that it was refused', async () => {
          assert.ok(agent.running, agent.log);
          assert.equal(await cluster.proxies.agentReady(SECOND), false);
          const lines = [
            ...server.log
              .slice(serverBefore)
              .split('\n')
              .filter((line) => line.includes(`agent-${SECOND}`)),
            ...agent.log
              .slice(agentBefore)
              .split('\n')
              .filter((line) => /^[EW]|reason=/.test(line)),
          ];
          return lines.some((line) => REFUSAL.test(line));
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
