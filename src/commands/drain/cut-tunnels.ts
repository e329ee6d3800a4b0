import { askAll } from '../ask-all.ts';
import type { Operator } from '../operator.ts';
import { tunnelsUpTo } from '../tunnel-pages.ts';

const REMEMBERED = 1_000;
/** What ends with an agent ends within that time. */
const TOGETHER_MS = 5_000;

/** Tunnels of one agent that did not end by themselves. */
export interface CutCount {
  /** With the stream of their agent. */
  readonly lost: number;
  /** At the deadline of an order, or of the leaving agent itself. */
  readonly atDeadline: number;
  /** With the agent, when it was stopped at once. */
  readonly stopped: number;
  /** Broken off at the destination's side, together with the last one that ended: an agent that goes does that. */
  readonly brokenLast: number;
}

export const NONE_CUT: CutCount = { lost: 0, atDeadline: 0, stopped: 0, brokenLast: 0 };

/** Counts what is cut from its beginning on. Servers remember ended tunnels, so no clocks are compared. */
export class CutTunnels {
  readonly #operator: Operator;
  readonly #agentId: string;
  #before: ReadonlySet<string> = new Set();

  private constructor(operator: Operator, agentId: string) {
    this.#operator = operator;
    this.#agentId = agentId;
  }

  /** One for each agent, from now on: what was cut before is the beginning. @throws the signal's reason */
  static async begin(
    operator: Operator,
    agents: readonly { readonly id: string }[],
  ): Promise<ReadonlyMap<string, CutTunnels>> {
    const cuts = agents.map(async ({ id }): Promise<[string, CutTunnels]> => {
      const cut = new CutTunnels(operator, id);
      cut.#before = new Set((await cut.#cut()).map(({ key }) => key));
      return [id, cut];
    });
    return new Map(await Promise.all(cuts));
  }

  async count(): Promise<CutCount> {
    const cut = (await this.#cut()).filter(({ key }) => !this.#before.has(key));
    const of = (reason: string): number => cut.filter((one) => one.reason === reason).length;
    const newestMs = Math.max(...cut.map((one) => one.endedMs));
    const last = cut.filter((one) => one.reason === 'endpoint-lost' && newestMs - one.endedMs < TOGETHER_MS);
    return {
      lost: of('agent-lost'),
      atDeadline: of('drain-deadline'),
      stopped: of('stopping'),
      brokenLast: last.length,
    };
  }

  async #cut(): Promise<{ key: string; reason: string; endedMs: number }[]> {
    const request = { agent: this.#agentId, closed: true };
    const answers = await askAll(this.#operator, (client, signal) =>
      tunnelsUpTo(client, request, REMEMBERED, signal),
    );
    return answers.flatMap((answer) =>
      answer.fault === undefined
        ? answer.value.tunnels.map(({ id, serverId, closeReason = '', endedAt }) => ({
            key: `${serverId} ${id}`,
            reason: closeReason,
            endedMs: endedAt?.getTime() ?? 0,
          }))
        : [],
    );
  }
}
