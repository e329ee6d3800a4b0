import type { FrontendKind } from '../messages.ts';
import type { Contender } from '../results.ts';
import type { Verdict } from '../targets.ts';

/** What the processes of one pair held at each number of tunnels. */
export interface MemoryResult {
  readonly frontend: FrontendKind;
  readonly contender: Contender;
  readonly readings: readonly {
    readonly tunnels: number;
    readonly serverBytes: number;
    readonly agentBytes: number;
  }[];
}

interface Limit {
  readonly serverKb: number;
  readonly agentKb: number;
  readonly stretchServerKb?: number;
}

const LIMITS: Readonly<Partial<Record<FrontendKind, Limit>>> = {
  connect: { serverKb: 12, agentKb: 10 },
  grpc: { serverKb: 45, agentKb: 12, stretchServerKb: 25 },
};

/** KB (1,000 bytes) that one tunnel more costs, between the first and the last reading. */
export function perTunnel({ readings }: MemoryResult): { serverKb: number; agentKb: number } {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined || last.tunnels === first.tunnels) {
    return { serverKb: Number.NaN, agentKb: Number.NaN };
  }
  const slope = (key: 'serverBytes' | 'agentBytes'): number =>
    (last[key] - first[key]) / (last.tunnels - first.tunnels) / 1000;
  return { serverKb: slope('serverBytes'), agentKb: slope('agentBytes') };
}

/** Checks what our tunnels cost. */
export function memoryVerdicts(results: readonly MemoryResult[]): Verdict[] {
  return results.flatMap((result): Verdict[] => {
    const limit = LIMITS[result.frontend];
    if (limit === undefined || result.contender.side !== 'ours') return [];
    const { serverKb, agentKb } = perTunnel(result);
    const verdict = (who: string, kb: number, atMost: number, stretch: boolean): Verdict => ({
      row: `${result.frontend} idle tunnel, ${who}`,
      target: `at most ${atMost} KB${stretch ? ' (stretch)' : ''}`,
      reached: `${kb.toFixed(1)} KB`,
      verdict: kb <= atMost ? 'met' : stretch ? 'stretch missed' : 'MISSED',
    });
    const stretch = limit.stretchServerKb;
    return [
      verdict('server', serverKb, limit.serverKb, false),
      ...(stretch === undefined ? [] : [verdict('server', serverKb, stretch, true)]),
      verdict('agent', agentKb, limit.agentKb, false),
    ];
  });
}
