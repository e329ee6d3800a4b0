import { ageText, byteRateText, bytesText, sinceText } from '../proxy/admin/model/amounts.ts';
import type { Tunnel } from '../proxy/admin/model/tunnel.ts';
import type { TableFit } from './fit-table.ts';

export interface TunnelTable {
  readonly wide: boolean;
  readonly closed: boolean;
  /** More than one server is asked: say whose it is. */
  readonly several: boolean;
}

/** What a narrow terminal does without; `--sort` is by what stays the longest. */
export const TUNNEL_GIVES_WAY: Pick<TableFit, 'shorten' | 'drop'> = {
  shorten: [
    ['REASON', 24],
    ['CLIENT', 9],
    ['REASON', 12],
    ['AGENT', 12],
  ],
  drop: ['CLIENT', 'TO-NODE', 'FROM-NODE', 'PAUSED', 'SERVER', 'IDLE', 'AGENT'],
};

export function tunnelHead({ wide, closed, several }: TunnelTable): string[] {
  const head = ['TUNNEL', 'AGENT', 'DESTINATION', 'CLIENT', 'AGE'];
  if (closed) head.push('ENDED', 'TO-NODE', 'FROM-NODE', 'REASON');
  else head.push('IDLE', 'TO-NODE', 'FROM-NODE', 'RATE', 'BUFFERED', 'PAUSED');
  if (several && !wide) head.push('SERVER');
  if (wide) head.push('SERVER', 'DIAL-ID', 'CONNECT-ID', 'STRATEGY', 'MODE');
  return head;
}

export function tunnelRow(tunnel: Tunnel, { wide, closed, several }: TunnelTable, nowMs: number): string[] {
  const row = [
    tunnel.id,
    tunnel.agent || '-',
    tunnel.destination,
    tunnel.client || '-',
    ageText(tunnel.ageSeconds),
  ];
  const bytes = [bytesText(tunnel.bytesToNode), bytesText(tunnel.bytesFromNode)];
  if (closed) row.push(`${sinceText(tunnel.endedAt, nowMs)} ago`, ...bytes, endText(tunnel));
  else {
    const paused = tunnel.pausedSeconds === undefined ? '-' : ageText(tunnel.pausedSeconds);
    row.push(ageText(tunnel.idleSeconds), ...bytes, byteRateText(tunnel.bytesPerSecond));
    row.push(bytesText(tunnel.bufferedBytes), paused);
  }
  if (several && !wide) row.push(tunnel.serverId);
  if (wide)
    row.push(tunnel.serverId, tunnel.dialId, String(tunnel.connectId), tunnel.strategy || '-', tunnel.mode);
  return row;
}

/** Why it ended: `agent-lost`, or `dial-failed: connection refused`. */
export function endText({ closeReason, error }: Tunnel): string {
  if (closeReason === undefined || closeReason === '') return '-';
  return error === undefined || error === '' ? closeReason : `${closeReason}: ${error}`;
}

/** One tunnel in a line of progress: `10.0.1.18:10250, 41m old, last byte 3s ago, 11 kB/s`. */
export function leftText(tunnel: Tunnel): string {
  return (
    `${tunnel.destination}, ${ageText(tunnel.ageSeconds)} old, last byte ${ageText(tunnel.idleSeconds)} ago, ` +
    byteRateText(tunnel.bytesPerSecond)
  );
}
