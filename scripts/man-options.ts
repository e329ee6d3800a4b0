// Writes the sections OPTIONS of the man pages from the definitions of the commands; with --check, fails when one is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { defineAgents } from '../src/commands/agents-command.ts';
import { defineClose } from '../src/commands/close-command.ts';
import { defineDemo } from '../src/commands/demo-command.ts';
import { defineDial } from '../src/commands/dial-command.ts';
import { defineDrain } from '../src/commands/drain-command.ts';
import { defineDrains } from '../src/commands/drains-command.ts';
import { defineEvents } from '../src/commands/events-command.ts';
import { agentFlags } from '../src/commands/flags/agent-flags.ts';
import { defaultText, type FlagTable, isEmptyDefault } from '../src/commands/flags/flag-definition.ts';
import { serveFlags } from '../src/commands/flags/serve-flags.ts';
import { defineSelect } from '../src/commands/select-command.ts';
import { defineTop } from '../src/commands/top-command.ts';
import { defineTunnels } from '../src/commands/tunnels-command.ts';
import { defineUndrain } from '../src/commands/undrain-command.ts';
import { defineWhy } from '../src/commands/why-command.ts';

const definitions = {
  agents: defineAgents,
  close: defineClose,
  demo: defineDemo,
  dial: defineDial,
  drain: defineDrain,
  drains: defineDrains,
  events: defineEvents,
  select: defineSelect,
  top: defineTop,
  tunnels: defineTunnels,
  undrain: defineUndrain,
  why: defineWhy,
};
const tables = { serve: serveFlags, agent: agentFlags };

/** The commands of which a page is checked. */
export const manCommands: readonly string[] = [...Object.keys(definitions), ...Object.keys(tables)];

const BEGIN = '.\\" The options are generated: npm run docs\n';
const END = '.\\" The end of the options.\n';

/** The text of a page with its options as they are defined now. */
export function withOptions(command: string, page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`man/konnectivity-ts-${command}.1 has no place for options`);
  return page.slice(0, begin + BEGIN.length) + optionsOf(command) + page.slice(end);
}

function optionsOf(name: string): string {
  if (Object.hasOwn(tables, name)) return flagsText(tables[name as keyof typeof tables]);
  const command = new Command(name);
  definitions[name as keyof typeof definitions](command);
  const help = command.createHelp();
  return help
    .visibleOptions(command)
    .map((option) => `.TP\n.B ${roff(option.flags)}\n${roff(sentence(help.optionDescription(option)))}\n`)
    .join('');
}

function flagsText(table: FlagTable): string {
  let group = '';
  let text = '';
  for (const [name, definition] of Object.entries(table)) {
    if (definition.hidden === true) continue;
    if (definition.group !== group) text += `.SS ${roff(definition.group)}\n`;
    group = definition.group;
    const short = definition.shorthand === undefined ? '' : `-${definition.shorthand}, `;
    const value = definition.kind === 'bool' ? '' : `=${definition.kind}`;
    const choices =
      definition.kind === 'string' && definition.choices !== undefined
        ? ` (${definition.choices.join(' or ')})`
        : '';
    const preset = isEmptyDefault(definition) ? '' : ` (default ${defaultText(definition)})`;
    const why = definition.status === 'accepted' ? `. Without meaning here: ${definition.why}` : '';
    text += `.TP\n.B ${roff(`${short}--${name}${value}`)}\n${roff(sentence(`${definition.help}${choices}${preset}${why}`))}\n`;
  }
  return text;
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

/** Text as it is, for troff. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}

export function manPage(command: string): string {
  return readFileSync(new URL(`../man/konnectivity-ts-${command}.1`, import.meta.url), 'utf8');
}

/** Writes or checks all pages. @returns the commands of which the page is stale */
export function renewManPages(check: boolean): string[] {
  const stale = manCommands.filter((command) => withOptions(command, manPage(command)) !== manPage(command));
  if (!check) {
    for (const command of stale) {
      const file = new URL(`../man/konnectivity-ts-${command}.1`, import.meta.url);
      writeFileSync(file, withOptions(command, manPage(command)));
    }
  }
  return stale;
}
