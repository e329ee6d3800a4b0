import { type Command, Option } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import { processIo } from './io.ts';
import type { TunnelsFlags } from './tunnels.ts';

const AFTER_HELP = `
Exit codes: 0 done; 2 usage; 3 no server, or several, on this machine; 5 no server can be reached,
or none allows it; 7 some servers did not answer; 130 interrupted.

Examples:
  konnectivity-ts tunnels --agent node-b --sort rate
  konnectivity-ts tunnels --destination 10.0.1.18:10250 --closed
  konnectivity-ts tunnels --paused -o json
`;

/** Describes the flags of `tunnels`; what it does is loaded when it runs. */
export function defineTunnels(command: Command): void {
  command
    .summary('the tunnels, oldest first')
    .description('lists the tunnels of the servers, oldest first')
    .option('--agent <id>', 'only those that this agent carries')
    .option('--destination <host:port>', 'only those to this destination; a host alone is enough')
    .option('--paused', 'only those of which the client is not read, because the way to the node is full')
    .addOption(
      new Option(
        '--sort <order>',
        'by age, oldest first, or by another, largest first (default age)',
      ).choices(['age', 'buffered', 'rate']),
    )
    .option('--closed', 'those that ended and dials that failed instead, newest first, each with its reason')
    .option('--limit <number>', 'show at most so many (default 1000)')
    .option('-w, --watch', 'go on, and print what changes');
  addOutputOption(command, 'json', 'wide', 'name')
    .addHelpText('after', AFTER_HELP)
    .action(async (flags: TunnelsFlags) => {
      const { tunnels } = await import('./tunnels.ts');
      process.exitCode = await tunnels(flags, processIo());
    });
  addAdminOptions(command);
}
