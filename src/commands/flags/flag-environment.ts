import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** What reading flags needs to know of the outside: handed in, so that it can be tested without any. */
export interface FlagEnvironment {
  readonly env: {
    readonly PROXY_SERVER_ID?: string | undefined;
    readonly PROXY_AGENT_ID?: string | undefined;
  };
  fileExists(path: string): boolean;
  /** A new ID for a server or agent that was given none. */
  newId(): string;
  /** What the process may use: the limit of its cgroup, else the machine's. */
  readonly memoryBytes: number;
  /** What V8 lets the heap become. */
  readonly heapLimitBytes: number;
}

/** The environment of this process. */
export function processFlagEnvironment(env: FlagEnvironment['env']): FlagEnvironment {
  return {
    env,
    fileExists: existsSync,
    newId: randomUUID,
    // 0 or a huge number when there is no limit.
    memoryBytes: Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
    heapLimitBytes: getHeapStatistics().heap_size_limit,
  };
}
