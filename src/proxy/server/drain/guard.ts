import { Fault } from '../../ops/fault.ts';
import type { Pool } from '../selection/pool.ts';
import type { StreamRegistry } from '../selection/stream-registry.ts';
import { destinationsOf, destinationText, ReadyWithout } from './destinations.ts';

/** Names in one message, and lines for one agent; how many more there are is said. */
export const MOST_NAMED = 10;

type Fallback = 'last-resort' | 'strategy';

export interface DrainForecast {
  /** Destinations that have a ready agent now and would have none. */
  readonly lost: readonly string[];
  /** For each agent: who takes over its destinations, a line each. */
  takeover(agentId: string): string[];
  /** For each agent: destinations that it alone serves by name, and who would serve them. */
  notes(agentId: string): string[];
}

/**
 * What draining all these agents at once would mean for their destinations, over all strategies.
 * @param assumed agents to be taken for draining already
 * @param fallback the server's --draining-fallback
 */
export function forecast(
  registry: StreamRegistry,
  agentIds: Iterable<string>,
  assumed: Iterable<string>,
  fallback: Fallback,
): DrainForecast {
  const now = new ReadyWithout(registry, assumed);
  const then = new ReadyWithout(registry, assumed);
  const agents = [...agentIds];
  for (const agentId of agents) then.leaveOut(agentId);
  const lost = new Set<string>();
  for (const agentId of agents) {
    for (const destination of destinationsOf(registry, agentId)) {
      if (then.takeover(destination) === undefined && now.takeover(destination) !== undefined) {
        lost.add(destinationText(destination));
      }
    }
  }
  return {
    lost: [...lost],
    takeover: (agentId) =>
      shortened(
        destinationsOf(registry, agentId).map((destination) => takeoverLine(then, destination, fallback)),
        (more) => `${more} more destinations`,
      ),
    notes: (agentId) =>
      shortened(
        destinationsOf(registry, agentId)
          .map((destination) => noteOf(now, then, destination, fallback))
          .filter((note) => note !== undefined),
        (more) => `the same for ${more} more destinations`,
      ),
  };
}

/** @throws Fault `drain-refused` when destinations would be lost */
export function refuseLoss(agentIds: readonly string[], lost: readonly string[]): void {
  if (lost.length === 0) return;
  const named = lost.slice(0, MOST_NAMED).join(', ');
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : '';
  const agents = agentIds.length === 1 ? `agent ${agentIds[0]}` : `these ${agentIds.length} agents together`;
  throw new Fault(
    'drain-refused',
    `draining ${agents} would leave draining agents alone for ${named}${more}`,
    'have another ready agent first, or say --force',
  );
}

/**
 * Destinations of an agent that no other ready agent serves, in words, at most ten. Of an agent that is ready as well
 * as of one that drains.
 */
export function lastFor(registry: StreamRegistry, agentId: string): string[] {
  const others = new ReadyWithout(registry, [agentId]);
  return destinationsOf(registry, agentId)
    .filter((destination) => others.takeover(destination) === undefined)
    .slice(0, MOST_NAMED)
    .map(destinationText);
}

function takeoverLine(then: ReadyWithout, destination: Pool, fallback: Fallback): string {
  const by = then.takeover(destination);
  const stays = by === undefined || (fallback === 'strategy' && by.strategy !== destination.strategy);
  const who = stays ? 'draining agents alone' : `${by.strategy}: ${by.ready} ready`;
  return `${destinationText(destination)} -> ${who}`;
}

/** Only where agents name the destination, and none of those that do stays ready. */
function noteOf(
  now: ReadyWithout,
  then: ReadyWithout,
  destination: Pool,
  fallback: Fallback,
): string | undefined {
  const by = then.takeover(destination);
  if (by === undefined || by.strategy === destination.strategy) return undefined;
  if (now.takeover(destination)?.strategy !== destination.strategy) return undefined;
  const named = `no other ready agent names ${destinationText(destination)}`;
  return fallback === 'strategy'
    ? `${named}, and --draining-fallback=strategy keeps its dials on draining ones`
    : `${named}; ${by.strategy} serves it`;
}

function shortened(lines: string[], rest: (more: number) => string): string[] {
  if (lines.length <= MOST_NAMED) return lines;
  return [...lines.slice(0, MOST_NAMED), rest(lines.length - MOST_NAMED)];
}
