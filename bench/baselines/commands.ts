import { fileURLToPath } from 'node:url';
import type { PairCommands } from '../options.ts';

/** What a bench runs beside the pairs, as pairs that understand the same flags. */
export type BaselineName = 'chain' | 'naive';

const FILES: Readonly<Record<BaselineName, { serve: string; agent: string }>> = {
  chain: { serve: 'chain-front.ts', agent: 'chain-back.ts' },
  naive: { serve: 'naive-server.ts', agent: 'naive-agent.ts' },
};

/** The command lines of a baseline. */
export function baselineCommands(name: BaselineName): PairCommands {
  const command = (file: string): string[] => [
    process.execPath,
    '--import',
    import.meta.resolve('tsx'),
    fileURLToPath(new URL(file, import.meta.url)),
  ];
  const { serve, agent } = FILES[name];
  return { serve: command(serve), agent: command(agent), extra: [] };
}
