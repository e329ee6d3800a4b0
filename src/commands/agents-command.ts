import type { Command } from 'commander';
import { addAdminOptions, addOutputOption } from './admin-options.ts';
import type { AgentsFlags } from './agents.ts';
import { processIo } from './io.ts';

const AFTER_HELP = `
Exit codes: 0 done; 2 usage; 3 no server, or several, on this machine; 5 no server can be reached,
or none allows it; 7 some servers did not answer; 130 interrupted.

Examples:
  konnectivity-ts agents
  konnectivity-ts agents -o wide --admin unix:///run/konnectivity-ts/admin.sock
  konnectivity-ts agents -o json | jq -r '.[] | select(.state == "ready") | .id'
`;

/** Describes the flags of `agents`; what it does is loaded when it runs. */
export function defineAgents(command: Command): void {
  command
    .summary('the agents: state, what they serve, what runs through them')
    .description('lists the agents of the servers: state, what they serve, what runs through them');
  addOutputOption(command, 'json', 'wide', 'name')
    .option('-w, --watch', 'go on, and print what changes')
    .addHelpText('after', AFTER_HELP)
    .action(async (flags: AgentsFlags) => {
      const { agents } = await import('./agents.ts');
      process.exitCode = await agents(flags, processIo());
    });
  addAdminOptions(command);
}
