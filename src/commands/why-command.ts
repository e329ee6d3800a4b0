import type { Command } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import { processIo } from './io.ts';
import type { WhyFlags } from './why.ts';

const AFTER_HELP = `
Exit codes: 0 done; 2 usage; 3 no agent can carry it, or no server was found; 5 no server can be
reached, or none allows it; 7 some servers did not answer; 130 interrupted.

Examples:
  konnectivity-ts why 10.0.0.7:10250
`;

/** Describes the flags of `why`; what it does is loaded when it runs. */
export function defineWhy(command: Command): void {
  command
    .summary('the same, and what the last dials to a destination met')
    .description('why a destination is served as it is: a dry run, and its last ten dials and ends')
    .argument('<host:port>', 'the destination');
  addOutputOption(command, 'json')
    .addHelpText('after', AFTER_HELP)
    .action(async (target: string, flags: WhyFlags) => {
      const { why } = await import('./why.ts');
      process.exitCode = await why(target, flags, processIo());
    });
  addAdminOptions(command);
}
