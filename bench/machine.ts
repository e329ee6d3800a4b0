import { cpus } from 'node:os';

export interface Machine {
  readonly cpu: string | undefined;
  readonly cores: number;
  readonly node: string;
  readonly platform: string;
}

/** On what a run was made. */
export function describeMachine(): Machine {
  const [cpu] = cpus();
  return { cpu: cpu?.model, cores: cpus().length, node: process.version, platform: process.platform };
}
