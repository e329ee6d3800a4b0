import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import type { Tunnel, TunnelsRequest } from '../proxy/admin/model/tunnel.ts';

const LARGEST_PAGE = 1_000;

export interface TunnelsFound {
  readonly tunnels: readonly Tunnel[];
  /** That match, also those beyond the limit. */
  readonly total: number;
}

/** Up to `limit` tunnels of one server, page after page. */
export async function tunnelsUpTo(
  client: AdminClient,
  request: TunnelsRequest,
  limit: number,
  signal: AbortSignal,
): Promise<TunnelsFound> {
  const tunnels: Tunnel[] = [];
  let pageToken = '';
  for (;;) {
    const pageSize = Math.min(LARGEST_PAGE, limit - tunnels.length);
    const page = await client.tunnels(
      { ...request, pageSize, ...(pageToken === '' ? {} : { pageToken }) },
      signal,
    );
    tunnels.push(...page.tunnels);
    pageToken = page.nextPageToken;
    if (pageToken === '' || tunnels.length >= limit) return { tunnels, total: page.total };
  }
}

/** Tunnels of several servers in one order, the same that each server keeps. */
export function inOrder(tunnels: readonly Tunnel[], request: TunnelsRequest): Tunnel[] {
  const worth = (tunnel: Tunnel): number => {
    if (request.closed === true) return tunnel.endedAt?.getTime() ?? 0;
    if (request.sort === 'buffered') return tunnel.bufferedBytes;
    return request.sort === 'rate' ? tunnel.bytesPerSecond : tunnel.ageSeconds;
  };
  return tunnels.toSorted((a, b) => worth(b) - worth(a) || (a.id < b.id ? -1 : 1));
}
