import type { Clock } from '../../ops/clock.ts';
import type { AgentSightings } from './agent-sightings.ts';
import type { DrainBounds } from './drain-bounds.ts';
import type { OrderLedger } from './order-ledger.ts';
import type { StoredOrders } from './stored-orders.ts';

/** What is swept. */
export interface SweptState {
  readonly ledger: OrderLedger;
  readonly stored: StoredOrders;
  readonly sightings: AgentSightings;
}

/** Ends what waited too long for agents that are gone, and forgets what is old, again and again until the signal. */
export async function sweepOrders(
  { ledger, stored, sightings }: SweptState,
  { sweepMs, goneMs }: Pick<DrainBounds, 'sweepMs' | 'goneMs'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.wait(sweepMs, signal);
    if (signal.aborted) return;
    for (const agentId of stored.goneFor(goneMs)) ledger.expire(agentId);
    sightings.expire();
    if (ledger.ended.expire(clock.monoMs()) > 0) stored.changed();
  }
}
