import { align, figure, percent } from './align.ts';
import type { Sample } from './measure.ts';
import type { Results, Side } from './results.ts';
import type { Row } from './rows.ts';
import { type Summary, summarize, unitName } from './summary.ts';

const OTHERS: readonly Side[] = ['peer', 'chain', 'naive', 'off'];

const NOTES = `CPU: us per MB, echo or dial. MB: peak memory of the process in the cell. busy: share of one core that load generator,
destination, the relay of a long link and the rest of the machine used; near 100 % the row shows their limit.
ceiling: the same load without a proxy between the two. MB/s: a million bytes a second, where they arrive.`;

/** The summary as text: one line per row, aligned, with what the columns mean, and every failed cell. */
export function formatTable(rows: readonly Row[], results: Results): string {
  const measured = new Set(rows.flatMap((row) => results.of(row).map(({ side }) => side)));
  const others = OTHERS.filter((side) => measured.has(side));
  const sides: readonly Side[] = ['ours', ...others];
  const heads = [
    'row',
    'ours [min-max]',
    ...others.flatMap((side) => [`${side} [min-max]`, 'ratio']),
    'server CPU',
    'agent CPU',
    'p50 us',
    'p99 us',
    'server MB',
    'agent MB',
    'load busy',
    'dest busy',
    ...(rows.some((row) => row.linkMs > 0) ? ['relay busy'] : []),
    'others busy',
    'ceiling',
  ];
  const withRelay = heads.includes('relay busy');
  const lines = [heads, ...rows.map((row) => formatRow(row, results, sides, withRelay))];
  const failures = results.failures.map(({ row, side, reason }) => `FAILED ${row}, ${side}: ${reason}`);
  const order = sides.length > 1 ? [`Figures in one column are ${sides.join('/')}.`] : [];
  return [...align(lines), '', ...order, NOTES, ...variantNotes(rows, results), ...failures].join('\n');
}

function formatRow(row: Row, results: Results, sides: readonly Side[], withRelay: boolean): string[] {
  const all = results.of(row);
  const summaries = sides.map((side) => summarize(all, side));
  const [ours, ...others] = summaries;
  const ceiling = summarize(all, 'ceiling');
  const each = (format: (sample: Sample) => string): string =>
    summaries.map((summary) => (summary === undefined ? '-' : format(summary.median))).join('/');
  const latency = (key: 'p50Us' | 'p99Us'): string =>
    row.traffic === 'echo' || row.traffic === 'dials' ? each((sample) => figure(sample[key])) : '';
  return [
    `${row.name} (${unitName(row.traffic)})`,
    formatRate(ours),
    ...others.flatMap((other) => [formatRate(other), formatRatio(ours, other)]),
    each((sample) => figure(sample.serverCpuUs)),
    each((sample) => figure(sample.agentCpuUs)),
    latency('p50Us'),
    latency('p99Us'),
    each((sample) => figure(sample.serverPeakRssBytes / 1e6)),
    each((sample) => figure(sample.agentPeakRssBytes / 1e6)),
    each((sample) => percent(sample.loadBusy)),
    each((sample) => percent(sample.destinationBusy)),
    ...(withRelay ? [each((sample) => percent(sample.relayBusy))] : []),
    each((sample) => percent(sample.othersBusy)),
    ceiling === undefined ? '-' : figure(ceiling.rate),
  ];
}

function formatRate(summary: Summary | undefined): string {
  if (summary === undefined) return '-';
  return `${figure(summary.rate)} [${figure(summary.minRate)}-${figure(summary.maxRate)}]`;
}

function formatRatio(ours: Summary | undefined, other: Summary | undefined): string {
  return ours === undefined || other === undefined ? '-' : `${(ours.rate / other.rate).toFixed(2)}x`;
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
