import { defaultText, type FlagDefinition, type FlagTable } from './flag-definition.ts';

/** The table of docs/FLAGS.md: one row for each flag, hidden ones too, under a heading for each group. */
export function flagsMarkdown(table: FlagTable): string {
  const lines: string[] = [];
  let group = '';
  for (const [name, definition] of Object.entries(table)) {
    if (definition.group !== group) {
      if (group !== '') lines.push('');
      group = definition.group;
      lines.push(`### ${group}`, '', '| flag | kind | default | upstream | status | what it does |');
      lines.push('|---|---|---|---|---|---|');
    }
    lines.push(row(name, definition));
  }
  return lines.join('\n');
}

function row(name: string, definition: FlagDefinition): string {
  const upstream = definition.ours === true ? 'none' : (definition.upstreamDefault ?? 'same');
  const cells = [
    code(`--${name}`) + (definition.shorthand === undefined ? '' : `, ${code(`-${definition.shorthand}`)}`),
    definition.kind,
    defaultText(definition) === '' ? 'empty' : code(defaultText(definition)),
    upstream === 'same' || upstream === 'none' ? upstream : code(upstream),
    status(definition),
    explanation(definition),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function status(definition: FlagDefinition): string {
  switch (definition.status) {
    case 'works':
      return 'works';
    case 'accepted':
      return 'accepted without meaning';
  }
}

function explanation(definition: FlagDefinition): string {
  const choices =
    definition.kind === 'string' && definition.choices !== undefined
      ? ` (${definition.choices.map(code).join(' or ')})`
      : '';
  const why =
    definition.status === 'works' ? '' : `. ${definition.why[0]?.toUpperCase()}${definition.why.slice(1)}`;
  return `${definition.help}${choices}${why}`;
}

function code(text: string): string {
  return `\`${text}\``;
}
