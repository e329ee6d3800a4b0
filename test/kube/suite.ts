// All checks in each mode. Runs in a network namespace of its own, which main.ts makes.
import { execFileSync } from 'node:child_process';
import { after, before, describe } from 'node:test';
import { checkGroups } from './check-groups.ts';
import { Cluster } from './cluster.ts';
import { modes, places } from './settings.ts';

execFileSync('ip', ['link', 'set', 'lo', 'up']);
for (const address of [places.node, places.api, places.plain, places.cluster, places.kubernetes]) {
  execFileSync('ip', ['address', 'add', `${address}/32`, 'dev', 'lo']);
}

for (const mode of modes) {
  describe(mode, { timeout: 900_000 }, () => {
    const cluster = new Cluster(mode);
    before(() => cluster.up());
    after(() => cluster.down());
    for (const [name, check] of Object.entries(checkGroups)) describe(name, () => check(cluster));
  });
}
