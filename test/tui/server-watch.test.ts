import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openAdminClient } from '../../src/proxy/admin/client/open-admin-client.ts';
import { ServerWatch } from '../../src/tui/link/server-watch.ts';
import { adminAgent } from '../peers/admin-agent.ts';
import { AdminServer } from '../peers/admin-server.ts';
import { FakeFleet } from '../peers/fake-fleet.ts';

it('a server that says who it is and nothing of its agents is tried again', {
  timeout: 10_000,
}, async (t) => {
  const { first } = new FakeFleet('cp-1');
  let watches = 0;
  const server = await AdminServer.start({
    GetServer: (_, { signal }) => first.server(signal),
    async *WatchAgents(_, { signal }) {
      watches++;
      if (watches > 1) {
        yield {
          snapshot: true,
          snapshotComplete: true,
          revision: 1,
          epoch: 'e',
          removed: [],
          changed: [adminAgent('node-a')],
        };
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
  });
  t.after(() => server.close());
  const client = openAdminClient(server.address, { actor: '' });
  t.after(() => client.close());
  const stop = new AbortController();
  const reasons = new Set<string>();
  const times = { intervalMs: 5, silenceMs: 50, answerTimeoutMs: 2_000, retryMs: [1] };
  let seen = (): void => {};
  const live = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const watch = new ServerWatch(
    client,
    () => {
      const { link, agents } = watch.state;
      if (link.kind === 'connecting' && link.reason !== undefined) reasons.add(link.reason);
      if (link.kind === 'live' && agents.has('node-a')) seen();
    },
    times,
  );
  const running = watch.run(stop.signal);
  await live;
  stop.abort();
  await running;
  assert.deepEqual([...reasons], ['the server does not say its agents']);
});
