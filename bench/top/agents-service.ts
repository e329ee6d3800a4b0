import { createServer } from 'node:net';
import { GrpcHost } from '../../src/proxy/admin/service/grpc-host.ts';
import { registerAdmin } from '../../src/proxy/admin/service/register-admin.ts';
import { type MadeFleet, madeServerInfo, makeFleet } from './made-fleet.ts';

// A process of its own: an admin service with so many made agents, a part of which changes at every interval.
const [, , count = '100', path = ''] = process.argv;
const fleet: MadeFleet = makeFleet(Number(count));

const host = new GrpcHost();
registerAdmin(
  host.server,
  {
    GetServer: () => madeServerInfo(fleet),
    WatchAgents: async function* ({ intervalSeconds, only }, { signal }) {
      const named = new Set(only);
      const wanted = ({ id }: { id: string }): boolean => named.size === 0 || named.has(id);
      const base = { epoch: 'e', removed: [], server: madeServerInfo(fleet) };
      yield {
        ...base,
        snapshot: true,
        snapshotComplete: true,
        revision: 1,
        changed: fleet.agents.filter(wanted),
      };
      for (let revision = 2; !signal.aborted; revision++) {
        await new Promise((resolve) => setTimeout(resolve, intervalSeconds * 1_000));
        const changed = named.size === 0 ? fleet.next() : fleet.agents.filter(wanted);
        yield {
          ...base,
          snapshot: false,
          snapshotComplete: false,
          revision,
          changed,
          server: madeServerInfo(fleet),
        };
      }
    },
  },
  {
    caller: () => ({ name: 'bench', claimed: true, role: 'operator', remote: 'unix' }),
    onBug: (_, error) => {
      throw error;
    },
  },
);
createServer((socket) => host.accept(socket)).listen(path, () => process.stdout.write('ready\n'));
process.on('disconnect', () => process.exit());
