import { ageText, byteRateText, bytesText } from '../../proxy/admin/model/amounts.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import { clockText } from '../text/amounts.ts';
import { fitEnd, fitMiddle, safeText } from '../text/safe-text.ts';
import { type Span, span } from './span.ts';

/** The columns of tunnels that fit; the destination and the age always do. */
export interface TunnelColumns {
  readonly agent: number;
  readonly destination: number;
  readonly client: number;
  readonly bytes: boolean;
  readonly rate: boolean;
  readonly buffered: boolean;
}

/** @param columns cells for a row, the cursor not counted */
export function tunnelColumns(columns: number, withAgent: boolean): TunnelColumns {
  const bytes = columns >= 90;
  const rate = columns >= 64;
  const buffered = columns >= 78;
  const fixed = 14 + (rate ? 10 : 0) + (buffered ? 9 : 0) + (bytes ? 19 : 0);
  const parts = 1 + (withAgent ? 1 : 0) + (columns >= 56 ? 1 : 0);
  const each = Math.max(8, Math.floor((columns - fixed) / parts) - 1);
  return {
    agent: withAgent ? Math.min(each, 30) : 0,
    destination: Math.min(each, 40),
    client: columns >= 56 ? Math.min(each, 40) : 0,
    bytes,
    rate,
    buffered,
  };
}

export function tunnelHead(columns: TunnelColumns, sort: string): Span[] {
  const { agent, destination, client, bytes, rate, buffered } = columns;
  const tone = (name: string) => (name === sort ? 'strong' : 'quiet');
  return [
    ...(agent > 0 ? [span(`${fitEnd('AGENT', agent)} `, 'quiet')] : []),
    span(`${fitEnd('DESTINATION', destination)} `, 'quiet'),
    ...(client > 0 ? [span(`${fitEnd('CLIENT', client)} `, 'quiet')] : []),
    span('    AGE', tone('age')),
    span('   IDLE', 'quiet'),
    ...(rate ? [span('    RATE/s', tone('rate'))] : []),
    ...(buffered ? [span(' BUFFERED', tone('buffered'))] : []),
    ...(bytes ? [span('  TO-NODE FROM-NODE', 'quiet')] : []),
  ];
}

export function tunnelCells(tunnel: Tunnel, columns: TunnelColumns, ellipsis: string): Span[] {
  const { agent, destination, client, bytes, rate, buffered } = columns;
  const paused = tunnel.pausedSeconds !== undefined;
  const right = (text: string, width: number) => fitEnd(text, width, 'right');
  return [
    ...(agent > 0 ? [span(`${fitMiddle(safeText(tunnel.agent), agent, ellipsis)} `)] : []),
    span(`${fitMiddle(safeText(tunnel.destination), destination, ellipsis)} `),
    ...(client > 0 ? [span(`${fitMiddle(safeText(tunnel.client), client, ellipsis)} `, 'quiet')] : []),
    span(right(ageText(tunnel.ageSeconds), 7)),
    // Over how long ago the last byte was: that it may not go on is why.
    paused ? span(right('paused', 7), 'bad') : span(right(ageText(tunnel.idleSeconds), 7)),
    ...(rate ? [span(right(byteRateText(tunnel.bytesPerSecond).replace('/s', ''), 10))] : []),
    ...(buffered ? [span(right(bytesText(tunnel.bufferedBytes), 9))] : []),
    ...(bytes
      ? [span(right(bytesText(tunnel.bytesToNode), 9)), span(right(bytesText(tunnel.bytesFromNode), 10))]
      : []),
  ];
}

/** A tunnel that ended, or a dial that failed, in words. */
export function endText(tunnel: Tunnel, nowMs: number): string {
  const when = tunnel.endedAt === undefined ? '-' : clockText(tunnel.endedAt, nowMs);
  const why = safeText(tunnel.closeReason ?? 'ended');
  const error = tunnel.error === undefined || tunnel.error === '' ? '' : `: ${safeText(tunnel.error)}`;
  const lasted = tunnel.closeReason === 'dial-failed' ? '' : ` after ${ageText(tunnel.ageSeconds)}`;
  return `${when}  ${safeText(tunnel.destination)}  ${why}${lasted}${error}`;
}
