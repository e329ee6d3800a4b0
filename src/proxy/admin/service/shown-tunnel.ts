import type { Backend } from '../../server/backend.ts';
import type { EndedTunnel } from '../../server/ended-tunnel.ts';
import type { Tunnel as ServerTunnel } from '../../server/tunnel.ts';
import type { Tunnel } from '../model/tunnel.ts';
import { tunnelId } from './tunnel-number.ts';

/** What the two clocks of a moment say: times are kept on the one that never goes back, and shown on the other. */
export interface Moment {
  readonly monoMs: number;
  readonly unixMs: number;
}

export function now(): Moment {
  return { monoMs: performance.now(), unixMs: Date.now() };
}

export function dateOf(monoMs: number, at: Moment): Date {
  return new Date(at.unixMs - (at.monoMs - monoMs));
}

/** An established tunnel as the API has it. */
export function shownTunnel(tunnel: ServerTunnel, backend: Backend, serverId: string, at: Moment): Tunnel {
  const { sample } = tunnel;
  const bytes = tunnel.bytesToNode + tunnel.bytesFromNode;
  return {
    id: tunnelId(tunnel.number),
    dialId: String(tunnel.dialId),
    agent: backend.agentId,
    destination: tunnel.address,
    client: tunnel.frontend.client,
    since: dateOf(tunnel.startedAtMs, at),
    ageSeconds: (at.monoMs - tunnel.startedAtMs) / 1000,
    // Bytes that nobody sampled yet came just now.
    idleSeconds: bytes === sample.bytes ? (at.monoMs - sample.lastByteMs) / 1000 : 0,
    bytesToNode: tunnel.bytesToNode,
    bytesFromNode: tunnel.bytesFromNode,
    bytesPerSecond: sample.bytesPerSecond,
    bufferedBytes: tunnel.frontend.bufferedBytes,
    ...(tunnel.pausedSinceMs === undefined
      ? {}
      : { pausedSeconds: (at.monoMs - tunnel.pausedSinceMs) / 1000 }),
    serverId,
    connectId: tunnel.connectId,
    strategy: tunnel.strategy,
    mode: tunnel.frontend.kind,
  };
}

/** One that ended, or a dial that failed. */
export function shownEnded(ended: EndedTunnel, serverId: string, at: Moment): Tunnel {
  return {
    id: tunnelId(ended.number),
    dialId: String(ended.dialId),
    agent: ended.agentId,
    destination: ended.address,
    client: ended.client,
    since: dateOf(ended.startedAtMs, at),
    ageSeconds: (ended.endedAtMs - ended.startedAtMs) / 1000,
    idleSeconds: 0,
    bytesToNode: ended.bytesToNode,
    bytesFromNode: ended.bytesFromNode,
    bytesPerSecond: 0,
    bufferedBytes: 0,
    closeReason: ended.reason,
    endedAt: dateOf(ended.endedAtMs, at),
    ...(ended.error === '' ? {} : { error: ended.error }),
    serverId,
    connectId: ended.connectId,
    strategy: ended.strategy,
    mode: ended.mode,
  };
}
