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

/** Counts what is cut from its making on. Servers remember ended tunnels, so no clocks are compared. */
export class CutTunnels {
  readonly #operator: Operator;
  readonly #agentId: string;
  #before: ReadonlySet<string> = new Set();

  constructor(operator: Operator, agentId: string) {
    this.#operator = operator;
    this.#agentId = agentId;
  }

  /** Takes what was cut before as the beginning. */
  async begin(): Promise<void> {
    this.#before = new Set((await this.#cut()).map(({ key }) => key));
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
