import type { Lease, LeaseQuery, Leases } from './leases.ts';
import type { Observe } from './observe.ts';

const PAGE = '500';
/** However many there are, no more are read: servers are few, and a selector that takes in so many is wrong. */
const MOST_LEASES = 10_000;
/** An API whose pages never end would be asked for ever. */
const MOST_PAGES = 100;

/** All Leases that a query selects, page by page, and the version of the list. @throws KubeFault */
export async function listAll(
  leases: Leases,
  query: LeaseQuery,
  signal: AbortSignal,
  observe: Observe,
): Promise<{ readonly items: readonly Lease[]; readonly version: string }> {
  const items: Lease[] = [];
  let from: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = { ...query, limit: PAGE, ...(from === undefined ? {} : { continue: from }) };
    const { body } = await observe(() => leases.list(page, signal));
    items.push(...body.items);
    from = body.metadata.continue || undefined;
    if (from === undefined || items.length >= MOST_LEASES || pages >= MOST_PAGES) {
      return { items, version: body.metadata.resourceVersion };
    }
  }
}
