import { processIo } from './commands/io.ts';
import { runToEnd } from './commands/run-to-end.ts';

// What bin/ starts `serve` and `agent` with. They parse their own arguments, so that nothing else has to be loaded.
void runToEnd(async () => {
  const [command, ...flags] = process.argv.slice(2);
  const run =
    command === 'serve'
      ? (await import('./commands/serve.ts')).serve
      : (await import('./commands/agent.ts')).agent;
  process.exitCode = await run(flags, processIo());
});
