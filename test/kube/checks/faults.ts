import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';

/** Restarts and absences. */
export function faults(cluster: Cluster): void {
  const works = async (): Promise<void> => assert.match(await cluster.output(['logs', 'x']), /pod=x /);
  const fails = async (): Promise<string> => {
    const { code, stderr } = await cluster.kubectl(['logs', 'x']);
    assert.equal(code, 1);
    return stderr;
  };

  it('requests work after the agent was restarted', async () => {
    await cluster.proxies.stopAgent(1);
    cluster.proxies.startAgent(1);
    await cluster.proxies.ready();
    await works();
  });

  it('without an agent a request fails, and works when one is there', async () => {
    await cluster.proxies.stopAgent(1);
    const why = await fails();
    if (cluster.mode === 'grpc-uds') assert.match(why, /no agent|agent/i);
    cluster.proxies.startAgent(1);
    await cluster.proxies.ready();
    await works();
  });

  it('without a server a request fails, and works when it is there again', async () => {
    await cluster.proxies.stopServer();
    await fails();
    await cluster.proxies.startServer();
    await cluster.proxies.ready();
    await works();
  });

  it('requests work after the server was restarted', async () => {
    await cluster.proxies.stopServer();
    await cluster.proxies.startServer();
    await cluster.proxies.ready();
    await works();
  });
}
