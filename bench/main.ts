import { ISOLATION_NAMES, USAGE } from './options.ts';
import { ROW_BENCHES } from './rows.ts';

const [name = '', ...args] = process.argv.slice(2);

if (name === 'selection') {
  const { run } = await import('./selection.ts');
  await run(args);
} else if (name === 'top') {
  const { run } = await import('./top/main.ts');
  await run(args);
} else if (name === 'admin') {
  const { run } = await import('./admin/main.ts');
  await run(args);
} else if (name === 'memory') {
  const { run } = await import('./memory/main.ts');
  await run(args);
} else if (name === 'scale') {
  const { run } = await import('./scale/main.ts');
  await run(args);
} else if (name === 'targets') {
  const { run } = await import('./targets-of-files.ts');
  run(args);
} else if (name === 'start') {
  const { run } = await import('./start/main.ts');
  await run(args);
} else if (name === 'agents-start') {
  const { run } = await import('./agents-start.ts');
  await run();
} else if (ROW_BENCHES.includes(name)) {
  const { run } = await import('./tunnel.ts');
  await run(name, args);
} else if (ISOLATION_NAMES.includes(name)) {
  const { run } = await import('./isolation/main.ts');
  await run(name, args);
} else {
  const asked = name === '--help' || name === '-h';
  console[asked ? 'log' : 'error'](name === '' || asked ? USAGE : `no bench is called ${name}\n\n${USAGE}`);
  process.exitCode = asked ? 0 : 2;
}
