import { type Command, Option } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import type { DrainFlags } from './drain/drain-flags.ts';
import { processIo } from './io.ts';

const AFTER_HELP = `
An agent is named by its whole ID, or by kind=value of an identifier (host=node-c). On a terminal
the beginning of an ID is enough, and is asked back. Repeating the command without options changes
nothing and watches on; with options the order is updated. Ctrl-C stops watching, not draining.

Exit codes: 0 drained; 1 failed; 2 usage; 3 not found, or ambiguous; 4 the wait ended, still
draining; 5 a server cannot be reached, or does not allow it, nothing changed; 6 refused, nothing
changed; 7 partial; 8 the agent left with tunnels cut; 130 interrupted.

Examples:
  konnectivity-ts drain node-b --reason 'kernel patch'
  konnectivity-ts drain node-b --deadline 1h --at-deadline close --yes
  konnectivity-ts drain host=10.0.1.18 --dry-run
`;

/** Describes the flags of `drain`; what it does is loaded when it runs. */
export function defineDrain(command: Command): void {
  command
    .summary('new dials go elsewhere, tunnels run on; waits until none is left')
    .description(
      'orders agents to drain: new dials go elsewhere, tunnels run on; waits until nothing is left',
    )
    .argument('<agent...>', 'agent ID, or kind=value of an identifier')
    .option('--reason <text>', 'why, for all who look')
    .option('--deadline <duration>', 'the limit of the order, from now, such as 1h; 0 takes it away')
    .addOption(
      new Option('--at-deadline <what>', 'keep what is left running, or close it (default keep)').choices([
        'keep',
        'close',
      ]),
    )
    .addOption(
      new Option(
        '--until <what>',
        'the order ends with undrain, or when the agent restarts (default undrain)',
      ).choices(['undrain', 'restart']),
    )
    .option('--timeout <duration>', 'wait no longer than that; the order stays')
    .option('--close-quiet <duration>', 'while waiting, close tunnels without a byte for so long')
    .option('--no-wait', 'end as soon as the order is placed')
    .option('--monitor', 'only watch an agent that drains already')
    .option('--dry-run', 'say what finishes and who takes over, and change nothing')
    .option('--allow-partial', 'go on when a server cannot be reached; it is told when it answers')
    .option('--force', 'also where some destination would have draining agents alone')
    .option('-y, --yes', 'do not ask');
  addOutputOption(command, 'json')
    .addHelpText('after', AFTER_HELP)
    .action(async (agents: string[], flags: DrainFlags) => {
      const { drain } = await import('./drain.ts');
      process.exitCode = await drain(agents, flags, processIo());
    });
  addAdminOptions(command);
}
