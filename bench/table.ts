import type { Sample } from './measure.ts';
import type { Results } from './results.ts';
import type { Row } from './rows.ts';
import { type Summary, summarize, unitName } from './summary.ts';

const HEADS = [
  'row',
  'ours [min-max]',
  'peer [min-max]',
  'ratio',
  'server CPU',
  'agent CPU',
  'p50 us',
  'p99 us',
  'server MB',
  'agent MB',
  'load busy',
  'dest busy',
  'others busy',
  'ceiling',
] as const;

const NOTES = `Pairs of figures are ours/peer. CPU: us per MB, echo or dial. MB: peak memory of the process in the cell. busy: share of
one core that load generator, destination and the rest of the machine used; near 100 % the row shows their limit.
ceiling: the same load without a proxy between the two. MB/s: a million bytes a second, where they arrive.`;

/** The summary as text: one line per row, aligned, with what the columns mean, and every failed cell. */
export function formatTable(rows: readonly Row[], results: Results): string {
  const lines = [[...HEADS], ...rows.map((row) => formatRow(row, results))];
  const failures = results.failures.map(({ row, side, reason }) => `FAILED ${row}, ${side}: ${reason}`);
  return [...align(lines), '', NOTES, ...variantNotes(rows, results), ...failures].join('\n');
}

/** Lines of cells with columns of one width: the first to the left, the others to the right. */
export function align(lines: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const line of lines) {
    line.forEach((text, column) => {
      widths[column] = Math.max(widths[column] ?? 0, text.length);
    });
  }
  const pad = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return lines.map((line) => line.map(pad).join('  '));
}

function formatRow(row: Row, results: Results): string[] {
  const all = results.of(row);
  const ours = summarize(all, 'ours');
  const peer = summarize(all, 'peer');
  const ceiling = summarize(all, 'ceiling');
  const both = (format: (sample: Sample) => string): string =>
    [ours, peer].map((summary) => (summary === undefined ? '-' : format(summary.median))).join('/');
  const latency = (key: 'p50Us' | 'p99Us'): string =>
    row.traffic === 'echo' || row.traffic === 'dials' ? both((sample) => figure(sample[key])) : '';
  return [
    `${row.name} (${unitName(row.traffic)})`,
    formatRate(ours),
    formatRate(peer),
    ours === undefined || peer === undefined ? '-' : `${(ours.rate / peer.rate).toFixed(2)}x`,
    both((sample) => figure(sample.serverCpuUs)),
    both((sample) => figure(sample.agentCpuUs)),
    latency('p50Us'),
    latency('p99Us'),
    both((sample) => figure(sample.serverPeakRssBytes / 1e6)),
    both((sample) => figure(sample.agentPeakRssBytes / 1e6)),
    both((sample) => percent(sample.loadBusy)),
    both((sample) => percent(sample.destinationBusy)),
    both((sample) => percent(sample.othersBusy)),
    ceiling === undefined ? '-' : figure(ceiling.rate),
  ];
}

function formatRate(summary: Summary | undefined): string {
  if (summary === undefined) return '-';
  return `${figure(summary.rate)} [${figure(summary.minRate)}-${figure(summary.maxRate)}]`;
}

/** Three digits, or all before the point. */
export function figure(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** A share as per cent. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`;
}

/** Which variant of the peer stands in each row, where several ran. */
function variantNotes(rows: readonly Row[], results: Results): string[] {
  const variants = new Set<string>();
  for (const row of rows) {
    for (const { side, variant } of results.of(row)) if (side === 'peer') variants.add(variant);
  }
  if (variants.size < 2) return [];
  const better = rows.map((row) => {
    const variant = summarize(results.of(row), 'peer')?.variant;
    return variant === undefined ? '' : `${row.name}: ${variant === '' ? 'its defaults' : variant}`;
  });
  return [`Peer's better flags: ${better.filter((text) => text !== '').join('; ')}`];
}
