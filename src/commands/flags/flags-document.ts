import { agentFlags } from './agent-flags.ts';
import type { FlagTable } from './flag-definition.ts';
import { flagsMarkdown } from './flags-markdown.ts';
import { foreignFlags } from './foreign-flags.ts';
import { klogFlags } from './klog-flags.ts';
import { serveFlags } from './serve-flags.ts';

const INTRODUCTION = `# Flags of \`serve\` and \`agent\`

Generated from the definitions in src/commands/flags by \`node --import tsx scripts/flags-doc.ts\`.

\`konnectivity-ts serve\` takes every flag of Konnectivity's \`proxy-server\`, and \`konnectivity-ts agent\` every flag of
\`proxy-agent\`, so an argument list can stay as it is. Some have another default here, and a few are our own.

The syntax is that of Go: \`--flag=value\` or \`--flag value\`; a boolean is \`--flag\` or \`--flag=false\` (its value only
after \`=\`); \`-v4\`, \`-v=4\` and \`-v 4\` are the same; \`_\` may stand for \`-\` in names. Durations are written \`90s\`,
\`1m30s\`, \`1.5h\` or \`500ms\`; what is longer than 24.8 days counts as that. A list is repeated or comma-separated.
Whatever is refused ends the process with exit code 1 and one line for each thing that is wrong.

| status | meaning |
|---|---|
| works | it does what it says |
| accepted without meaning | taken and checked, without effect; said once in the log at verbosity 1 |

Upstream: \`same\` default, another default, or \`none\` when upstream has no such flag.`;

/** The text of docs/FLAGS.md. */
export function flagsDocument(): string {
  return `${[
    INTRODUCTION,
    '## serve',
    flagsMarkdown(without(serveFlags, klogFlags)),
    '## agent',
    flagsMarkdown(without(agentFlags, klogFlags)),
    '## Both',
    flagsMarkdown(klogFlags),
    '## Flags of other distributions',
    'Refused by name, with what to do:',
    foreignMarkdown(),
  ].join('\n\n')}\n`;
}

function without(table: FlagTable, part: FlagTable): FlagTable {
  return Object.fromEntries(Object.entries(table).filter(([name]) => !Object.hasOwn(part, name)));
}

function foreignMarkdown(): string {
  const rows = Object.entries(foreignFlags).flatMap(([command, flags]) =>
    Object.entries(flags).map(([name, remedy]) => `| \`${command}\` | \`--${name}\` | ${remedy} |`),
  );
  return ['| command | flag | what to do |', '|---|---|---|', ...rows].join('\n');
}
