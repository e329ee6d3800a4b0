/** An established tunnel, one that ended, or a dial that failed (Tunnel in proto/admin.proto). */
export interface Tunnel {
  /** Valid within the server's epoch. */
  readonly id: string;
  /** From the client, and may repeat; an int64 as decimal text. */
  readonly dialId: string;
  readonly agent: string;
  readonly destination: string;
  readonly client: string;
  readonly since: Date;
  readonly ageSeconds: number;
  /** Since the last byte in either direction. */
  readonly idleSeconds: number;
  readonly bytesToNode: number;
  readonly bytesFromNode: number;
  readonly bytesPerSecond: number;
  readonly bufferedBytes: number;
  /** How long its client has not been read, because the way to the node is full. */
  readonly pausedSeconds?: number;
  /** Ended ones: a close reason; failed dials: `dial-failed`. */
  readonly closeReason?: string;
  readonly endedAt?: Date;
  /** Of failed dials: what the client was told. */
  readonly error?: string;
  readonly serverId: string;
  readonly connectId: number;
  readonly strategy: string;
  readonly mode: 'http-connect' | 'grpc';
}

export interface TunnelsRequest {
  readonly agent?: string;
  /** host:port, or a host. */
  readonly destination?: string;
  readonly pausedOnly?: boolean;
  readonly sort?: 'age' | 'buffered' | 'rate';
  /** Ended ones and failed dials instead, newest first. */
  readonly closed?: boolean;
  /** At most 1000; 100 when left out. */
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly idleAtLeastSeconds?: number;
}

export interface TunnelsPage {
  readonly tunnels: readonly Tunnel[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** On all pages. */
  readonly total: number;
}

export interface CloseTunnelRequest {
  readonly id: string;
  readonly reason?: string;
  readonly actor?: string;
  readonly validateOnly?: boolean;
}
