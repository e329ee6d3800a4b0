import type { Command } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import type { EventsFlags } from './events.ts';
import { processIo } from './io.ts';

const AFTER_HELP = `
A server remembers its last 10,000 events until it ends. -o json prints one object a line.

Exit codes: 0 done; 2 usage; 3 no server, or several, on this machine; 5 no server can be reached,
or none allows it; 7 some servers did not answer; 130 interrupted.

Examples:
  konnectivity-ts events --since 10m
  konnectivity-ts events --follow --agent node-b
`;

/** Describes the flags of `events`; what it does is loaded when it runs. */
export function defineEvents(command: Command): void {
  command
    .summary('what happened at the servers')
    .description('what happened at the servers: agents, orders, pools without a ready agent')
    .option('--since <duration>', 'from so long ago on, such as 10m; all that is remembered when left out')
    .option('-f, --follow', 'go on with new ones; without --since, with new ones alone')
    .option('--agent <id>', 'only those of this agent');
  addOutputOption(command, 'json')
    .addHelpText('after', AFTER_HELP)
    .action(async (flags: EventsFlags) => {
      const { events } = await import('./events.ts');
      process.exitCode = await events(flags, processIo());
    });
  addAdminOptions(command);
}
