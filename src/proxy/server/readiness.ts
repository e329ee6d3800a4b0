import type { Backends } from './backends.ts';

/** Whether the server may be sent dials, and why not. */
export interface Readiness {
  readonly ready: boolean;
  readonly stopping: boolean;
  /** One line: "ok", or what is wrong, or what is unserved. */
  readonly text: string;
}

/**
 * Upstream's rule: the first strategy has a backend. Also said: strategies that nobody serves, and that only draining
 * agents are left (they still serve, so the server stays ready).
 */
export function readiness(backends: Backends, stopping: boolean): Readiness {
  if (stopping) return { ready: false, stopping, text: 'the server is shutting down' };
  const { strategies } = backends.registry;
  const unserved = strategies
    .filter((strategy) => strategy.backendCount === 0)
    .map((strategy) => strategy.name);
  const first = strategies[0];
  if (first === undefined || first.backendCount === 0) {
    return { ready: false, stopping, text: `no agent is connected for strategy ${unserved.join(', ')}` };
  }
  const notes = unserved.length > 0 ? [`no agent for strategy ${unserved.join(', ')}`] : [];
  if (!backends.registry.anyReady) notes.push('only draining agents');
  return { ready: true, stopping, text: notes.length === 0 ? 'ok' : `ok (${notes.join('; ')})` };
}
