import type { Command } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import type { CloseFlags } from './close.ts';
import { processIo } from './io.ts';

const AFTER_HELP = `
Exit codes: 0 done; 2 usage; 3 there is no such tunnel, or no server; 5 a server cannot be
reached, or does not allow it, nothing changed; 6 refused, nothing changed; 130 interrupted.

Examples:
  konnectivity-ts tunnels --agent node-b
  konnectivity-ts close k7q2m4xa --reason 'left over from a test'
`;

/** Describes the flags of `close`; what it does is loaded when it runs. */
export function defineClose(command: Command): void {
  command
    .summary('cuts one tunnel')
    .description('cuts one tunnel; its close reason is closed-by-operator')
    .argument('<tunnel>', 'its ID, as `tunnels` shows it')
    .option('--reason <text>', 'why, for the log and the audit')
    .option('--dry-run', 'say which it is, and change nothing');
  addOutputOption(command, 'json')
    .addHelpText('after', AFTER_HELP)
    .action(async (id: string, flags: CloseFlags) => {
      const { close } = await import('./close.ts');
      process.exitCode = await close(id, flags, processIo());
    });
  addAdminOptions(command);
}
