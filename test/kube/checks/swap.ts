import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import type { PairCommands } from '../proxies.ts';
import { settings } from '../settings.ts';
import { until } from '../until.ts';

/** Another pair takes over on the same flags, sockets, files and Leases, and gives back. */
export function swap(cluster: Cluster): void {
  const { server, agent } = settings.otherPair;
  const skip = server && agent ? false : '$KUBE_OTHER_SERVER and $KUBE_OTHER_AGENT name no pair';
  const change = async (commands: PairCommands): Promise<void> => {
    const { proxies } = cluster;
    await proxies.stopAgent(1);
    await proxies.stopServer();
    proxies.commands = commands;
    await proxies.startServer();
    proxies.startAgent(1);
    await proxies.ready();
    assert.match(await cluster.output(['logs', 'x']), /pod=x /);
    assert.equal(await cluster.output(['exec', '-i', 'x', '--', 'cat'], { stdin: 'through' }), 'through');
    if (settings.leases) {
      await until(
        'one server is known',
        async () => (await proxies.agentMetric(1, 'known_server_count')) === 1,
      );
    }
  };

  it('the other pair takes over', { skip }, async () => {
    if (server && agent) await change({ server, agent });
  });

  it('the first pair takes over again', { skip }, () => change(settings.pair));
}
