import type { Command } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import type { DrainsFlags } from './drains.ts';
import { processIo } from './io.ts';

const AFTER_HELP = `
Exit codes: 0 done; 2 usage; 3 no server, or several, on this machine; 5 no server can be reached,
or none allows it; 7 some servers did not answer; 130 interrupted.

-o name prints the agents:
  konnectivity-ts drains -o name | xargs konnectivity-ts undrain --yes

Examples:
  konnectivity-ts drains
  konnectivity-ts drains -o json | jq -r '.[].agentId'
`;

/** Describes the flags of `drains`; what it does is loaded when it runs. */
export function defineDrains(command: Command): void {
  command
    .summary('the drain orders: for which agent, by whom, since when, why')
    .description('lists the drain orders: for which agent, by whom, since when, why');
  addOutputOption(command, 'json', 'wide', 'name')
    .option('-w, --watch', 'go on, and print what changes')
    .addHelpText('after', AFTER_HELP)
    .action(async (flags: DrainsFlags) => {
      const { drains } = await import('./drains.ts');
      process.exitCode = await drains(flags, processIo());
    });
  addAdminOptions(command);
}
