import type { ScrapedMetrics } from '../../ops/scraped-metrics.ts';
import type { StrategyPools } from '../selection/strategies.ts';
import { TIER_NAMES, Tier, type TierName } from '../selection/tier.ts';
import type { DrainOrder } from './drain-command.ts';

/** What the gauges of draining are read from when they are scraped. */
export interface DrainMetricsSource {
  readonly strategies: readonly StrategyPools[];
  orders(): readonly DrainOrder[];
  nowUnixMs(): number;
}

/** Gauges of draining: agents by state, pools without a ready agent, orders. */
export function drainMetrics(metrics: ScrapedMetrics, source: DrainMetricsSource): void {
  metrics.gauges(
    'backends',
    'Agents that a strategy can choose, by the best state of their streams.',
    function* () {
      for (const pools of source.strategies) {
        for (const [state, value] of agentsByState(pools)) {
          yield { labels: { strategy: pools.name, state }, value };
        }
      }
    },
  );
  metrics.gauges(
    'pools_out_of_ready',
    'Pools (destHost: hosts) that have agents, and none of them ready.',
    function* () {
      for (const pools of source.strategies) {
        yield { labels: { strategy: pools.name }, value: outOfReady(pools) };
      }
    },
  );
  metrics.gauge(
    'drain_orders',
    'Drain orders in force, as far as this server knows.',
    () => source.orders().length,
  );
  metrics.gauge(
    'drain_order_age_seconds_max',
    'Age of the oldest drain order in force; 0 without any.',
    () => {
      // Orders outlive processes and come from other machines: only the wall clock knows how old they are.
      const now = source.nowUnixMs();
      const ages = source.orders().map(({ sinceUnixMs }) => (now - sinceUnixMs) / 1000);
      return ages.reduce((oldest, age) => Math.max(oldest, age), 0);
    },
  );
}

/** An agent that is in several pools of a strategy counts once, in its best state. */
function agentsByState(pools: StrategyPools): Map<TierName, number> {
  const best = new Map<string, Tier>();
  const tiers: Tier[] = [Tier.ready, Tier.draining, Tier.suspect, Tier.waiting];
  for (const tier of tiers) {
    for (const pool of pools.pools()) {
      const set = pool.set(tier);
      for (let i = 0; i < set.size; i++) {
        const { agentId } = set.memberAt(i);
        if (!best.has(agentId)) best.set(agentId, tier);
      }
    }
  }
  const counts = new Map<TierName, number>(TIER_NAMES.map((name) => [name, 0]));
  for (const tier of best.values()) {
    const name = TIER_NAMES[tier] as TierName;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function outOfReady(pools: StrategyPools): number {
  let count = 0;
  for (const pool of pools.pools()) if (pool.size > 0 && pool.ready.size === 0) count++;
  return count;
}
