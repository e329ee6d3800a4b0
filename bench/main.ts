import { BENCH_NAMES, ISOLATION_NAMES, USAGE } from './options.ts';

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
} else if (name === 'agents-start') {
  const { run } = await import('./agents-start.ts');
  await run();
} else if (BENCH_NAMES.includes(name)) {
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
