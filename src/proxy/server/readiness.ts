import type { HealthCheck } from '../ops/health-check.ts';
import type { Backends } from './backends.ts';

/** Whether the server may be sent dials, and why not. */
export interface Readiness {
  readonly ready: boolean;
  readonly stopping: boolean;
  /** One line: "ok", or what is wrong, or what is unserved. */
  readonly text: string;
  /** For ?verbose. Only `accepting` and the first strategy decide. */
  readonly checks: readonly HealthCheck[];
}

/**
 * Upstream's rule: the first strategy has a backend. Also said: strategies that nobody serves, and that only draining
 * agents are left (they still serve, so the server stays ready).
 */
export function readiness(backends: Backends, stopping: boolean): Readiness {
  const { strategies, anyReady } = backends.registry;
  const [first] = strategies;
  const unserved = strategies.filter((one) => one.backendCount === 0).map((one) => one.name);
  const served = first !== undefined && first.backendCount > 0;
  const onlyDraining = served && !anyReady;
  const checks: HealthCheck[] = [
    { name: 'ping', ok: true, note: '' },
    { name: 'accepting', ok: !stopping, note: stopping ? 'the server is shutting down' : '' },
    ...strategies.map((strategy) => ({
      name: `strategy-${strategy.name}`,
      ok: strategy.backendCount > 0,
      note:
        strategy.backendCount > 0
          ? `agents: ${strategy.backendCount}`
          : `no agent is connected for it${strategy === first ? '' : '; the first strategy alone decides'}`,
    })),
    {
      name: 'agents-ready',
      ok: !onlyDraining,
      note: onlyDraining ? 'only draining agents; they still serve' : '',
    },
  ];
  const answer = { ready: served && !stopping, stopping, checks };
  if (stopping) return { ...answer, text: 'the server is shutting down' };
  if (!served) return { ...answer, text: `no agent is connected for strategy ${unserved.join(', ')}` };
  const notes = unserved.length > 0 ? [`no agent for strategy ${unserved.join(', ')}`] : [];
  if (onlyDraining) notes.push('only draining agents');
  return { ...answer, text: notes.length === 0 ? 'ok' : `ok (${notes.join('; ')})` };
}
