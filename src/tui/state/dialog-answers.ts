import type { DrainResult, UndrainResult } from '../../proxy/admin/model/agent.ts';
import { countText } from '../../proxy/admin/model/amounts.ts';
import { arrange } from './agent-table.ts';
import type { Dialog } from './dialog.ts';
import type { Applied, Outcome, TopEvent } from './event.ts';
import type { Result, TopState } from './top-state.ts';

type Answer = Extract<
  TopEvent,
  { type: 'drain-preview' | 'undrain-preview' | 'drained' | 'undrained' | 'tunnel-closed' }
>;

/** Puts an answer into the dialog whose request it answers, or ends the dialog with its result. */
export function reduceDialogAnswer(state: TopState, answer: Answer): TopState {
  const { dialog } = state;
  if (dialog === undefined) return state;
  switch (answer.type) {
    case 'drain-preview':
    case 'undrain-preview': {
      const asked =
        dialog.kind === 'drain' ? 'drain-preview' : dialog.kind === 'undrain' ? 'undrain-preview' : '';
      if (asked !== answer.type || dialog.kind === 'close') return state;
      if (dialog.preview.kind !== 'asking' || dialog.preview.request !== answer.request) return state;
      const { outcome } = answer;
      const preview = outcome.ok
        ? { kind: 'known', value: outcome.value }
        : { kind: 'failed', reason: outcome.reason };
      // What stood in the way of Enter until now may be just that they were being asked.
      return { ...state, dialog: { ...dialog, preview, complaint: undefined } as Dialog };
    }
    case 'drained':
      return ended(state, answer.request, drainedResult(answer.outcome));
    case 'undrained':
      return ended(state, answer.request, undrainedResult(answer.outcome));
    case 'tunnel-closed': {
      const { outcome } = answer;
      return ended(
        state,
        answer.request,
        outcome.ok
          ? { tone: 'good', text: `the tunnel to ${outcome.value.destination} is closed` }
          : { tone: 'bad', text: outcome.reason },
      );
    }
  }
}

function ended(state: TopState, request: number, result: Result): TopState {
  const { dialog } = state;
  if (dialog?.step.kind !== 'applying' || dialog.step.request !== request) return state;
  const table = result.tone === 'good' ? { ...state.table, marked: new Set<string>() } : state.table;
  return arrange({ ...state, table, dialog: undefined, result });
}

function drainedResult(outcome: Outcome<Applied<DrainResult>>): Result {
  if (!outcome.ok) return { tone: 'bad', text: outcome.reason };
  const { results, failures } = outcome.value;
  const left = results.reduce((sum, { agent }) => sum + agent.tunnels, 0);
  const unchanged = results.length > 0 && results.every(({ change }) => change === 'unchanged');
  const first = results[0];
  const who =
    first !== undefined && results.length === 1 ? `${first.agentId} is` : `${results.length} agents are`;
  const where = first !== undefined && results.length === 1 ? serversText(first.agent) : '';
  const text = `${who} ${unchanged ? 'draining already, nothing changed' : `draining${where}`}: ${countText(left, 'tunnel')} left`;
  return withFailures(text, failures);
}

function undrainedResult(outcome: Outcome<Applied<UndrainResult>>): Result {
  if (!outcome.ok) return { tone: 'bad', text: outcome.reason };
  const { results, failures } = outcome.value;
  const first = results[0];
  const one = first !== undefined && results.length === 1;
  const notes = results.flatMap((result) => result.notes);
  const text = one
    ? `${first.agentId} ${first.change === 'ended' ? 'is undrained: it takes new dials again' : 'was not under an order'}`
    : `${results.filter(({ change }) => change === 'ended').length} agents are undrained`;
  return withFailures([text, ...notes].join('; '), failures);
}

/** ` on 3/3 servers`, where the agent says of how many it knows. */
function serversText({ serverIds, serverCount }: DrainResult['agent']): string {
  return serverCount > 0 ? ` on ${serverIds.length}/${serverCount} servers` : '';
}

function withFailures(text: string, failures: Applied<unknown>['failures']): Result {
  if (failures.length === 0) return { tone: 'good', text };
  const failed = failures.map(({ server, reason }) => `${server}: ${reason}`).join('; ');
  return { tone: 'bad', text: `${text}; NOT on ${failed}` };
}
