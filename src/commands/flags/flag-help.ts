import { defaultText, type FlagDefinition, type FlagTable, isEmptyDefault } from './flag-definition.ts';

/** Left parts wider than this get a line of their own. */
const LEFT_WIDTH = 32;
const LEAST_WIDTH = 80;

/** The text of `--help`: every flag that is not hidden under its heading, wrapped at `width` columns (80 or more). */
export function formatFlagHelp(command: string, table: FlagTable, width = LEAST_WIDTH): string {
  const columns = Math.max(width, LEAST_WIDTH);
  const lines = [`Usage: ${command} [--flag=value]...`];
  let group = '';
  for (const [name, definition] of Object.entries(table)) {
    if (definition.hidden === true) continue;
    if (definition.group !== group) {
      group = definition.group;
      lines.push('', `${group}:`);
    }
    lines.push(...flagLines(name, definition, columns));
  }
  const syntax =
    'Flags have the syntax of Go: --flag=value or --flag value, booleans --flag or --flag=false, ' +
    'durations such as 90s or 1m30s. docs/FLAGS.md says more about each.';
  return [...lines, '', ...wrap(syntax, columns), ''].join('\n');
}

function flagLines(name: string, definition: FlagDefinition, columns: number): string[] {
  const short = definition.shorthand === undefined ? '    ' : `-${definition.shorthand}, `;
  const kind = definition.kind === 'bool' ? '' : ` ${definition.kind}`;
  const left = `  ${short}--${name}${kind}`;
  const indent = ' '.repeat(LEFT_WIDTH + 2);
  const right = wrap(description(definition), columns - indent.length);
  if (left.length > LEFT_WIDTH) return [left, ...right.map((line) => indent + line)];
  return right.map((line, index) => (index === 0 ? left.padEnd(indent.length) : indent) + line);
}

function description(definition: FlagDefinition): string {
  let text = definition.help;
  if (definition.kind === 'string' && definition.choices !== undefined) {
    text += `; ${definition.choices.join(' or ')}`;
  }
  if (!isEmptyDefault(definition)) text += ` (default ${defaultText(definition)})`;
  if (definition.status === 'accepted') text += ' [no meaning here]';
  return text;
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
