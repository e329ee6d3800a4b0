import type { Command } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import { processIo } from './io.ts';
import type { UndrainFlags } from './undrain.ts';

const AFTER_HELP = `
Agents are named as for drain. An agent that was told by a signal to stop cannot be undrained.

Exit codes: 0 done; 1 failed; 2 usage; 3 not found, or ambiguous; 5 a server cannot be reached, or
does not allow it, nothing changed; 6 refused, nothing changed; 7 partial; 130 interrupted.

Examples:
  konnectivity-ts undrain node-b
  konnectivity-ts undrain host=10.0.1.18
`;

/** Describes the flags of `undrain`; what it does is loaded when it runs. */
export function defineUndrain(command: Command): void {
  command
    .summary('ends drain orders: the agents take new dials again')
    .description('ends drain orders: the agents take new dials again')
    .argument('<agent...>', 'agent ID, or kind=value of an identifier')
    .option('--dry-run', 'say what would end, and change nothing')
    .option('--allow-partial', 'go on when a server cannot be reached')
    .option('-y, --yes', 'do not ask');
  addOutputOption(command, 'json')
    .addHelpText('after', AFTER_HELP)
    .action(async (agents: string[], flags: UndrainFlags) => {
      const { undrain } = await import('./undrain.ts');
      process.exitCode = await undrain(agents, flags, processIo());
    });
  addAdminOptions(command);
}
