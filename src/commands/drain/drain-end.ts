import type { Agent } from '../../proxy/admin/model/agent.ts';
import { ExitCode } from '../exit-code.ts';

/** How waiting for one agent ended. */
export type DrainEnd =
  /** @property asked servers that answered */
  | { readonly kind: 'drained'; readonly agent: Agent; readonly asked: number; readonly complete: boolean }
  /** Its stream ended, or it was replaced by a new instance. */
  | { readonly kind: 'left' }
  /** It was not connected from the beginning: the order waits for it. */
  | { readonly kind: 'absent' }
  /** Somebody ended the order. */
  | { readonly kind: 'undrained' };

export interface DrainSight {
  /** As the servers together have it now; absent when none knows it. */
  readonly agent: Agent | undefined;
  /** Servers that answer now, of those that were named. */
  readonly answering: number;
  readonly named: number;
  /** Some server has yet to be told of the order. */
  readonly untold: boolean;
}

/** What is remembered of an agent between two looks. */
export interface DrainMemory {
  readonly instance: string | undefined;
  readonly sawOrder: boolean;
  readonly sawLiving: boolean;
  /** Servers may be left out for good (--allow-partial). */
  readonly allowPartial: boolean;
}

/** Whether waiting has ended with what is seen now; undefined: not yet. */
export function drainEnd(sight: DrainSight, memory: DrainMemory): DrainEnd | undefined {
  const { agent, answering, named } = sight;
  if (answering === 0) return undefined;
  const complete = answering === named;
  if (agent === undefined || agent.state === 'gone') {
    // A server that is silent may still have it.
    if (!complete && !memory.allowPartial) return undefined;
    return memory.sawLiving ? { kind: 'left' } : { kind: 'absent' };
  }
  if (agent.state === 'drained') {
    // Our agent speaks for all its servers; of a Go agent each server knows its own part alone.
    if (agent.kind === 'go' && !complete && !memory.allowPartial) return undefined;
    return { kind: 'drained', agent, asked: answering, complete };
  }
  if (agent.state === 'draining' || agent.order !== undefined || sight.untold) return undefined;
  const replaced = memory.instance !== undefined && agent.instance !== memory.instance;
  if (replaced && memory.sawOrder) return { kind: 'left' };
  return memory.sawOrder && complete ? { kind: 'undrained' } : undefined;
}

/** @param cut tunnels that were cut with the agent */
export function exitOfEnd(end: DrainEnd, cut: number): ExitCode {
  switch (end.kind) {
    case 'drained':
      if (cut > 0) return ExitCode.cut;
      return end.agent.kind === 'go' && !end.complete ? ExitCode.partial : ExitCode.done;
    case 'left':
      return cut > 0 ? ExitCode.cut : ExitCode.done;
    case 'absent':
      return ExitCode.done;
    case 'undrained':
      return ExitCode.failed;
  }
}
