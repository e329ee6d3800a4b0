/** An operator's drain order for an agent ID, as the admin API tells it (Order in proto/admin.proto). */
export interface Order {
  readonly id: string;
  readonly agentId: string;
  readonly actor: string;
  /** The actor is what a client of the Unix socket says of itself. */
  readonly actorClaimed: boolean;
  readonly reason: string;
  readonly since: Date;
  readonly deadline?: Date;
  readonly atDeadline: 'keep' | 'close';
  readonly until: 'undrain' | 'restart';
  /** Placed at another server, known through the agent. */
  readonly relayed: boolean;
  /** The agent accepted it; a Go agent cannot be told. */
  readonly acknowledged: boolean;
  readonly overdue: boolean;
  readonly version: number;
}

export interface DrainRequest {
  readonly agentIds: readonly string[];
  readonly reason?: string;
  /** From now; left out: an existing one is kept; 0 takes it away. */
  readonly deadlineSeconds?: number;
  readonly atDeadline?: 'keep' | 'close';
  readonly until?: 'undrain' | 'restart';
  readonly force?: boolean;
  readonly validateOnly?: boolean;
  /** By agent ID; the same ones to each server. */
  readonly orderIds?: Readonly<Record<string, string>>;
  readonly actor?: string;
  readonly assumeDrained?: readonly string[];
}

export interface UndrainRequest {
  readonly agentIds: readonly string[];
  readonly validateOnly?: boolean;
  readonly actor?: string;
}
