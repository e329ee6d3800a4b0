import type { Entry, LatencySummary } from '../messages.ts';

/** Where a workload goes: through which entry, to which port of the destination, over how many tunnels at once. */
export interface WorkloadTarget {
  readonly entry: Entry;
  readonly port: number;
  readonly tunnels: number;
}

/** One kind of load, from its first tunnel to its last. Calls fail with the first fault of any tunnel. */
export interface Workload {
  /** Resolves when all tunnels are open and loaded. */
  start(): Promise<void>;
  /** Bytes, echoes or dials so far; of `up` only the destination can tell. */
  count(): number;
  /** Latencies count from here. */
  mark(): void;
  latencies(): LatencySummary;
  /** Resolves when every tunnel is closed. */
  stop(): Promise<void>;
  /** Cuts everything at once. */
  destroy(): void;
}
