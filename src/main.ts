import { Command } from 'commander';
import { defineAgents } from './commands/agents-command.ts';
import { defineClose } from './commands/close-command.ts';
import { defineDemo } from './commands/demo-command.ts';
import { defineDial } from './commands/dial-command.ts';
import { defineDrain } from './commands/drain-command.ts';
import { defineDrains } from './commands/drains-command.ts';
import { defineEvents } from './commands/events-command.ts';
import { processIo } from './commands/io.ts';
import { runToEnd } from './commands/run-to-end.ts';
import { defineSelect } from './commands/select-command.ts';
import { defineTop } from './commands/top-command.ts';
import { defineTunnels } from './commands/tunnels-command.ts';
import { defineUndrain } from './commands/undrain-command.ts';
import { version } from './commands/version.ts';
import { defineWhy } from './commands/why-command.ts';

const HELP_COLUMNS = 100;

const program = new Command('konnectivity-ts')
  .description('Runs, watches and drains a Konnectivity tunnel (Kubernetes apiserver-network-proxy).')
  .version(version)
  .exitOverride()
  .configureOutput({
    // Lines as long as texts of help are; in a narrower terminal as long as that is wide.
    getOutHelpWidth: () => Math.min(process.stdout.columns ?? HELP_COLUMNS, HELP_COLUMNS),
    // Who reads the help may leave (| head): that is no error.
    writeOut: (text) => void process.stdout.on('error', () => {}).write(text),
  });

program.commandsGroup('Run it:');

// serve and agent take Go-style flags, which commander does not know: they parse their own arguments.
program
  .command('serve')
  .description('the proxy server: kube-apiserver dials it, agents connect to it')
  .helpOption(false)
  .allowUnknownOption()
  .argument('[flags...]')
  .action(async () => {
    const { serve } = await import('./commands/serve.ts');
    process.exitCode = await serve(argumentsAfter('serve'), processIo());
  });

program
  .command('agent')
  .description('the proxy agent: connects to every server, opens connections')
  .helpOption(false)
  .allowUnknownOption()
  .argument('[flags...]')
  .action(async () => {
    const { agent } = await import('./commands/agent.ts');
    process.exitCode = await agent(argumentsAfter('agent'), processIo());
  });

program.commandsGroup('Look:');
defineTop(program.command('top'));
defineAgents(program.command('agents'));
defineTunnels(program.command('tunnels'));
defineDrains(program.command('drains'));
defineEvents(program.command('events'));
defineSelect(program.command('select'));
defineWhy(program.command('why'));

program.commandsGroup('Act:');
defineDrain(program.command('drain'));
defineUndrain(program.command('undrain'));
defineClose(program.command('close'));

program.commandsGroup('Try:');
defineDial(program.command('dial'));
defineDemo(program.command('demo'));

// A refused command line ends with what to type next, in the same line.
for (const command of [program, ...program.commands]) {
  const help = command === program ? '' : ` ${command.name()}`;
  command.configureOutput({
    outputError: (text, write) => {
      // The exit code says it too.
      process.stderr.on('error', () => {});
      const line = text
        .trim()
        .replace(/^error: /, '')
        .replaceAll(/\.?\s*\n/g, ' ')
        .replace(/\.$/, '');
      write(`konnectivity-ts: ${line}; see konnectivity-ts${help} --help\n`);
    },
  });
}

function argumentsAfter(command: string): string[] {
  return process.argv.slice(process.argv.indexOf(command, 2) + 1);
}

void runToEnd(() => program.parseAsync());
