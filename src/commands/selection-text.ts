import { countText } from '../proxy/admin/model/amounts.ts';
import type { SelectCandidate, Selection } from '../proxy/admin/model/selection.ts';
import { oneLine } from '../proxy/ops/safe-text.ts';
import type { TableFit } from './fit-table.ts';
import type { Operator } from './operator.ts';
import { formatTable } from './table.ts';

const INDENT = '  ';
/** What a narrow terminal does without: the strategy is the same in many lines. */
const GIVES_WAY = {
  shorten: [
    ['STRATEGY', 12],
    ['WHY NOT', 30],
  ],
  drop: [],
} as const;

/** A dry run in words: the result, how it was looked for, and who was there. */
export function selectionText(selection: Selection, { fit }: Pick<Operator, 'fit'>): string {
  const { server, target, reason } = selection;
  const lines = [`${server}: ${target} -> ${resultText(selection)}`];
  if (reason !== '') lines.push(`  ${reason}`);
  const parts = [`${lines.map((line) => oneLine(line)).join('\n')}\n`];
  if (selection.looks.length > 0) {
    const rows = selection.looks.map(({ pass, strategy, found }, index) => [
      pass,
      strategy,
      String(found),
      index === selection.looks.length - 1 && selection.choices > 0 ? 'chosen here' : '',
    ]);
    parts.push(indented(formatTable(['PASS', 'STRATEGY', 'FOUND', ''], rows)));
  }
  const candidates = selection.strategies.flatMap(({ name, key, matches, candidates: listed }) => {
    const where = key === '' ? name : `${name} ${key}`;
    const rows = listed.map((candidate) => [
      where,
      candidate.id,
      candidate.state,
      candidate.excluded ?? choiceText(selection, candidate),
    ]);
    if (listed.length === 0) return [[where, 'nobody', '-', '']];
    return matches > listed.length ? [...rows, [where, `and ${matches - listed.length} more`, '', '']] : rows;
  });
  if (candidates.length > 0) {
    const head = ['STRATEGY', 'AGENT', 'STATE', 'WHY NOT'];
    parts.push(indented(formatTable(head, candidates, indentedFit(fit(GIVES_WAY)))));
  }
  return parts.join('');
}

function resultText({ choice, choices, agent, strategy, fallback }: Selection): string {
  const how = `strategy ${strategy}${fallback ? ', for want of a ready agent' : ''}`;
  switch (choice) {
    case 'none':
      return 'no agent can carry it';
    case 'only':
      return `${agent} (${how})`;
    case 'random':
      return `one of ${countText(choices, 'agent')} at random, such as ${agent} (${how})`;
    case 'least':
      return `the less loaded of two of ${countText(choices, 'agent')}, such as ${agent} (${how})`;
  }
}

function choiceText({ choice }: Selection, { id: _ }: SelectCandidate): string {
  return choice === 'only' ? '<- this one' : '<- one of these';
}

export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, INDENT);
}

/** For a table that will be indented. */
export function indentedFit(fit: TableFit | undefined): TableFit | undefined {
  return fit === undefined ? undefined : { ...fit, columns: fit.columns - INDENT.length };
}
