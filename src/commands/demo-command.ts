import { type Command, Option } from 'commander';
import type { DemoFlags } from './demo-flags.ts';
import { processIo } from './io.ts';

const AFTER_HELP = `
Everything runs on 127.0.0.1 with certificates of its own, in a temporary directory, and is gone
after Ctrl-C.

Exit codes: 0 done, also when the demo without an end was interrupted; 1 failed; 2 usage; 130
interrupted.

Examples:
  konnectivity-ts demo                 a server, three agents and traffic, with commands to try
  konnectivity-ts demo --once          one request through each agent, then the end
  konnectivity-ts demo --story drain   an agent is drained under a running download, step by step
`;

/** Describes the flags of `demo`; what it does is loaded when it runs. */
export function defineDemo(command: Command): void {
  command
    .summary('a server, three agents and a little traffic on this machine')
    .description('runs a server, three agents and a little traffic on this machine')
    .option('--once', 'send one request through each agent, print what came of it, and end')
    .addOption(new Option('--story <name>', 'tell a story and end').choices(['drain']).conflicts('once'))
    .option('--seconds <number>', 'how long the story takes, at least 8', '40')
    .addHelpText('after', AFTER_HELP)
    .action(async (flags: DemoFlags) => {
      const { demo } = await import('./demo.ts');
      process.exitCode = await demo(flags, processIo());
    });
}
