import { type Command, Option } from 'commander';
import { addAdminOptions } from './admin-options.ts';
import { processIo } from './io.ts';
import type { TopFlags } from './top.ts';

const AFTER_HELP = `
Keys: ? lists them all. Nothing is changed without a dialog, in which no letter confirms. Without
a terminal (a pipe, TERM=dumb), with --once or -o json: one picture as text, and the end.

Exit codes: 0 left; 1 failed; 2 usage; 3 no server, or several, on this machine; 5 no server can
be reached, or none allows it; 7 one picture, but not all servers answered; 129 the terminal hung
up; 130 ended by a signal.

Examples:
  konnectivity-ts top
  konnectivity-ts top --admin unix:///run/konnectivity-ts/admin.sock --read-only
  konnectivity-ts top --admin cp-1:8092,cp-2:8092 \\
    --admin-cert op.crt --admin-key op.key --admin-ca-cert ca.crt
  watch -n 5 konnectivity-ts top --once
`;

/** Describes the flags of `top`; what it does is loaded when it runs. */
export function defineTop(command: Command): void {
  command
    .summary('a screen of agents and tunnels, from which they are drained')
    .description('a screen that shows the agents of the servers and what runs through them, and drains them')
    .option('--once', 'print one picture as text')
    .option('--read-only', 'no key that changes anything')
    .addOption(new Option('-o, --output <format>', 'one picture: servers and agents').choices(['json']))
    .addHelpText('after', AFTER_HELP)
    .action(async (flags: TopFlags) => {
      const { top } = await import('./top.ts');
      process.exitCode = await top(flags, processIo());
    });
  addAdminOptions(command);
}
