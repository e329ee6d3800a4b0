import { adminJson } from '../../proxy/admin/model/admin-json.ts';
import type { Agent } from '../../proxy/admin/model/agent.ts';
import { countText } from '../../proxy/admin/model/amounts.ts';
import { oneLine } from '../../proxy/ops/safe-text.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Operator } from '../operator.ts';
import type { CutCount } from './cut-tunnels.ts';
import type { DrainEnd } from './drain-end.ts';
import { drainedText, leftOf } from './drain-words.ts';

/** Prints how waiting goes: one line for each agent at its end, or JSON objects, one for each change. */
export class DrainReport {
  readonly #operator: Operator;
  readonly #json: boolean;
  readonly #last = new Map<string, string>();

  constructor(operator: Operator, json: boolean) {
    this.#operator = operator;
    this.#json = json;
  }

  /** JSON only: what an agent is like now, when that differs from the last time. */
  change(agent: Agent): void {
    if (!this.#json) return;
    const { conditions, order, source, state, tunnels, pendingDials } = agent;
    const line = adminJson({
      agent: agent.id,
      state,
      conditions,
      source,
      order,
      tunnels,
      pendingDials,
      final: false,
    });
    if (this.#last.get(agent.id) === line) return;
    this.#last.set(agent.id, line);
    this.#operator.print(`${line}\n`);
  }

  /** @param last how the agent was seen last */
  end(id: string, last: Agent | undefined, end: DrainEnd, cut: CutCount, exitCode: ExitCode): void {
    const gone = end.kind === 'left' ? cut.lost + cut.atDeadline + cut.stopped : cut.lost;
    const details: string[] = [];
    if (gone > 0)
      details.push(`${countText(gone, 'tunnel')} were cut`.replace('1 tunnel were', '1 tunnel was'));
    if (end.kind !== 'left' && cut.atDeadline > 0) {
      details.push(`${countText(cut.atDeadline, 'tunnel')} closed at the deadline`);
    }
    const text = [endText(end), ...details].join('; ');
    this.#final(
      id,
      last,
      { result: end.kind, tunnelsCut: gone, closedAtDeadline: cut.atDeadline },
      text,
      exitCode,
    );
  }

  /** The wait is over, not the drain. */
  still(id: string, last: Agent | undefined, text: string, exitCode: ExitCode): void {
    const left = last === undefined ? '' : `, ${leftOf(last)} left`;
    this.#final(id, last, { result: 'draining' }, `${text}${left}`, exitCode);
  }

  #final(id: string, last: Agent | undefined, more: object, text: string, exitCode: ExitCode): void {
    if (!this.#json) {
      this.#operator.print(`${oneLine(`${id}: ${text}`, 2_000)}\n`);
      return;
    }
    const { conditions, order, source, state, tunnels, pendingDials, safeToStop, lastFor } = last ?? {};
    const seen = { state, conditions, source, order, tunnels, pendingDials, safeToStop, lastFor };
    this.#operator.print(
      `${adminJson({ agent: id, ...seen, ...more, exitCode, message: text, final: true })}\n`,
    );
  }
}

function endText(end: DrainEnd): string {
  switch (end.kind) {
    case 'drained':
      return drainedText(end.agent, end.asked);
    case 'left':
      return 'left';
    case 'absent':
      return 'not connected; the order waits for it';
    case 'undrained':
      return 'no longer draining: somebody ended the order';
  }
}
