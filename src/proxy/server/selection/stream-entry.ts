import type { Pool } from './pool.ts';
import type { PoolMember } from './pool-member.ts';
import { StreamState } from './stream-state.ts';

/** A pool, and an agent ID's member in it. */
export interface Membership {
  readonly pool: Pool;
  readonly member: PoolMember;
}

/** What the registry keeps of a stream: its marks, and the pools that it belongs to. */
export class StreamEntry extends StreamState {
  readonly members: Membership[] = [];
}
