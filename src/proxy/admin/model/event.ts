/** Something that happened at a server (Event in proto/admin.proto). */
export interface AdminEvent {
  /** Grows by one within the epoch. */
  readonly number: number;
  readonly time: Date;
  /** A word out of the closed list in docs/ADMIN.md. */
  readonly type: string;
  readonly agent?: string;
  readonly message: string;
  readonly actor?: string;
  readonly orderId?: string;
  readonly serverId: string;
  readonly epoch: string;
  /** Events that this reader missed before this one. */
  readonly missed: number;
}

export interface EventsRequest {
  /** Past ones from then on; left out: none of the past. */
  readonly since?: Date;
  readonly follow: boolean;
  readonly agent?: string;
}
