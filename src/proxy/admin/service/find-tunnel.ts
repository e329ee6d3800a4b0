import type { Backend } from '../../server/backend.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import type { Tunnel } from '../../server/tunnel.ts';
import { notFound, quoted } from './requests.ts';
import { tunnelNumber } from './tunnel-number.ts';

/** An established tunnel by its ID. @throws Fault `admin-not-found`, also for one that ended, which it says */
export function findTunnel(server: ProxyServer, id: string): { tunnel: Tunnel; backend: Backend } {
  const number = tunnelNumber(id);
  if (number !== undefined) {
    for (const backend of server.backends.all()) {
      for (const tunnel of backend.tunnels.values()) if (tunnel.number === number) return { tunnel, backend };
    }
    for (const ended of server.endedTunnels.newestFirst()) {
      if (ended.number !== number) continue;
      throw notFound(
        `tunnel ${id} to ${ended.address} has ended already (${ended.reason})`,
        'nothing is left to do',
      );
    }
  }
  throw notFound(`no tunnel has the ID ${quoted(id)} at this server`, 'see konnectivity-ts tunnels');
}
