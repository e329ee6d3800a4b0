import type { Command } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import { processIo } from './io.ts';
import type { SelectFlags } from './select.ts';

const AFTER_HELP = `
Nothing is dialled and nothing changes. Several servers answer one after the other.

Exit codes: 0 done; 2 usage; 3 no agent can carry it, or no server was found; 5 no server can be
reached, or none allows it; 7 some servers did not answer; 130 interrupted.

Examples:
  konnectivity-ts select 10.0.0.7:10250
  konnectivity-ts select 10.0.0.7:10250 --assume-drained node-a,node-b
`;

/** Describes the flags of `select`; what it does is loaded when it runs. */
export function defineSelect(command: Command): void {
  command
    .summary('which agent would carry a dial, and why; changes nothing')
    .description('a dry run: which agent would carry a dial to a destination, and why')
    .argument('<host:port>', 'the destination')
    .option('--assume-drained <id,...>', 'as if these agents were draining')
    .option('--assume-gone <id,...>', 'as if these agents were not there');
  addOutputOption(command, 'json', 'name')
    .addHelpText('after', AFTER_HELP)
    .action(async (target: string, flags: SelectFlags) => {
      const { select } = await import('./select.ts');
      process.exitCode = await select(target, flags, processIo());
    });
  addAdminOptions(command);
}
