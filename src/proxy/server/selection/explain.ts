import type { Pool } from './pool.ts';
import type { PoolMember } from './pool-member.ts';
import type { Selection } from './selection.ts';
import type { Selector } from './selector.ts';
import type { StrategyName } from './strategies.ts';
import type { SelectableStream } from './stream-state.ts';
import { TIER_NAMES, Tier, type TierName } from './tier.ts';

const TIERS: readonly Tier[] = [Tier.ready, Tier.draining, Tier.suspect, Tier.waiting];

/**
 * Why an agent is not among those that the choice is made between. `draining`, `suspect`: a better one was found.
 * `later-strategy`: as good, but an earlier strategy matched. `no-status`: our agent has not announced itself yet.
 * `second-stream`: a Go agent's younger stream, still waiting beside an older one.
 */
export type Exclusion = 'draining' | 'suspect' | 'later-strategy' | 'no-status' | 'second-stream';

export interface ExplainedCandidate {
  readonly agentId: string;
  readonly state: TierName;
  readonly streams: number;
  /** Absent for those that the choice is between. */
  readonly excluded?: Exclusion;
}

export interface ExplainedStrategy {
  readonly name: StrategyName;
  /** destHost: the canonical host that was looked up; empty otherwise. */
  readonly key: string;
  /** Agent IDs that match, of which `candidates` lists the first, best state first. */
  readonly matches: number;
  readonly candidates: readonly ExplainedCandidate[];
}

export interface Explanation<S extends SelectableStream> {
  readonly address: string;
  /** What a dial would be given now. Where `choice` is random or least-loaded the agent is an example. */
  readonly decision: Selection<S>;
  readonly choice: 'none' | 'only' | 'random' | 'least-loaded';
  /** How many agents the choice is between. */
  readonly choices: number;
  /** Each look that was taken, in order; the last is the one that decided, if any did. */
  readonly looks: readonly {
    readonly pass: TierName;
    readonly strategy: StrategyName;
    readonly found: number;
  }[];
  readonly strategies: readonly ExplainedStrategy[];
}

/**
 * The dry run of a dial: takes the same decision by the same code and says how it came about.
 * @param limit how many candidates to list for each strategy
 */
export function explain<S extends SelectableStream>(
  selector: Selector<S>,
  address: string,
  limit = 50,
): Explanation<S> {
  const names = selector.registry.strategies.map((strategy) => strategy.name);
  const looks: { pass: TierName; strategy: StrategyName; found: number }[] = [];
  const decision = selector.select(address, undefined, (step, found) => {
    looks.push({
      pass: TIER_NAMES[step.tier] as TierName,
      strategy: names[step.strategy] as StrategyName,
      found,
    });
  });
  const choices = decision.stream === undefined ? 0 : (looks.at(-1)?.found ?? 0);
  const choice = choices === 0 ? 'none' : choices === 1 ? 'only' : selector.backendChoice;
  const strategies = selector.registry.strategies.map((strategy): ExplainedStrategy => {
    const pool = strategy.poolFor(address);
    const candidates: ExplainedCandidate[] = [];
    for (const tier of pool === undefined ? [] : TIERS) {
      const set = (pool as Pool).set(tier);
      for (let i = 0; i < set.size && candidates.length < limit; i++) {
        const member = set.memberAt(i);
        const excluded = exclusion(member, strategy.name, decision);
        const listed = {
          agentId: member.agentId,
          state: TIER_NAMES[member.tier] as TierName,
          streams: member.streams.length,
        };
        candidates.push(excluded === undefined ? listed : { ...listed, excluded });
      }
    }
    return { name: strategy.name, key: strategy.keyFor(address), matches: pool?.size ?? 0, candidates };
  });
  return { address, decision, choice, choices, looks, strategies };
}

function exclusion(
  member: PoolMember,
  strategy: StrategyName,
  decision: Selection<SelectableStream>,
): Exclusion | undefined {
  if (member.tier === Tier.waiting) {
    return member.streams.some((state) => state.stream.announces) ? 'no-status' : 'second-stream';
  }
  if (decision.stream === undefined) return undefined;
  const state = TIER_NAMES[member.tier] as (Exclusion & TierName) | 'ready';
  if (state === decision.pass) return strategy === decision.strategy ? undefined : 'later-strategy';
  return state === 'ready' ? 'later-strategy' : state;
}
