import type { ProxyServer } from '../../server/proxy-server.ts';
import { canonicalHost, hostOf } from '../../server/selection/canonical-host.ts';
import type { Tunnel, TunnelsPage, TunnelsRequest } from '../model/tunnel.ts';
import { badRequest, pageSize, quoted } from './requests.ts';
import { type Moment, now, shownEnded, shownTunnel } from './shown-tunnel.ts';

const USUAL_PAGE = 100;
const MOST_PAGE = 1_000;
const MOST_TOKEN = 100_000_000;

/** Whether an address (`host:port`) is of a destination, which may be a host alone; hosts in any spelling. */
export function sameDestination(destination: string): (address: string) => boolean {
  const host = canonicalHost(hostOf(destination));
  const port = portOf(destination);
  return (address) =>
    address === destination ||
    ((port === '' || portOf(address) === port) && canonicalHost(hostOf(address)) === host);
}

/** A page of tunnels, established or ended. @throws Fault `admin-bad-request` */
export function listTunnels(server: ProxyServer, request: TunnelsRequest): TunnelsPage {
  const size = pageSize(request.pageSize ?? 0, USUAL_PAGE, MOST_PAGE);
  const from = readToken(request.pageToken ?? '');
  const at = now();
  const matching = request.closed === true ? endedTunnels(server, request, at) : sorted(server, request, at);
  const next = from + size;
  return {
    tunnels: matching.slice(from, next),
    nextPageToken: next < matching.length ? String(next) : '',
    total: matching.length,
  };
}

/** Established tunnels that match, in no order. */
function openTunnels(server: ProxyServer, request: TunnelsRequest, at: Moment): Tunnel[] {
  const { serverId } = server.options;
  const isDestination = destinationFilter(request);
  const found: Tunnel[] = [];
  const backends =
    request.agent === undefined || request.agent === ''
      ? server.backends.all()
      : server.backends.registry.streamsOf(request.agent);
  for (const backend of backends) {
    for (const tunnel of backend.tunnels.values()) {
      if (request.pausedOnly === true && !tunnel.paused) continue;
      if (!isDestination(tunnel.address)) continue;
      const shown = shownTunnel(tunnel, backend, serverId, at);
      if (shown.idleSeconds >= (request.idleAtLeastSeconds ?? 0)) found.push(shown);
    }
  }
  return found;
}

function sorted(server: ProxyServer, request: TunnelsRequest, at: Moment): Tunnel[] {
  const sort: string = request.sort ?? '';
  const found = openTunnels(server, request, at);
  switch (sort) {
    case '':
    case 'age':
      return found.sort((a, b) => b.ageSeconds - a.ageSeconds || compareIds(a, b));
    case 'buffered':
      return found.sort((a, b) => b.bufferedBytes - a.bufferedBytes || compareIds(a, b));
    case 'rate':
      return found.sort((a, b) => b.bytesPerSecond - a.bytesPerSecond || compareIds(a, b));
    default:
      throw badRequest(`tunnels cannot be sorted by ${quoted(sort)}`, 'give age, buffered or rate');
  }
}

/** Newest first. */
export function endedTunnels(
  server: ProxyServer,
  request: TunnelsRequest,
  at: Moment,
  most = Infinity,
): Tunnel[] {
  const isDestination = destinationFilter(request);
  const found: Tunnel[] = [];
  for (const ended of server.endedTunnels.newestFirst()) {
    if (found.length >= most) break;
    if (request.agent !== undefined && request.agent !== '' && ended.agentId !== request.agent) continue;
    if (isDestination(ended.address)) found.push(shownEnded(ended, server.options.serverId, at));
  }
  return found;
}

/** What dials of a destination met, tunnels that run too: the last `most` beginnings and ends, newest first. */
export function latestTunnels(server: ProxyServer, destination: string, at: Moment, most: number): Tunnel[] {
  const lastMs = ({ since, endedAt }: Tunnel): number => (endedAt ?? since).getTime();
  return [...openTunnels(server, { destination }, at), ...endedTunnels(server, { destination }, at, most)]
    .sort((a, b) => lastMs(b) - lastMs(a))
    .slice(0, most);
}

function destinationFilter({ destination }: TunnelsRequest): (address: string) => boolean {
  return destination === undefined || destination === '' ? () => true : sameDestination(destination);
}

function compareIds(a: Tunnel, b: Tunnel): number {
  return a.id.length - b.id.length || (a.id < b.id ? -1 : 1);
}

function portOf(address: string): string {
  const match = /^(?:\[[^\]]*\]|[^:[\]]*):(\d+)$/.exec(address);
  return match?.[1] ?? '';
}

function readToken(token: string): number {
  if (token === '') return 0;
  const from = /^[1-9]\d{0,8}$/.test(token) ? Number(token) : Number.NaN;
  if (from <= MOST_TOKEN) return from;
  throw badRequest(
    `the page token ${quoted(token)} is none of ours`,
    'take next_page_token of the page before',
  );
}
