import type { Rates } from '../../proxy/admin/model/agent.ts';
import type { Key, KeyName } from '../terminal/key.ts';
import { withTable } from './agent-table.ts';
import { reduceDialogAnswer } from './dialog-answers.ts';
import { reduceDialogKey } from './dialog-keys.ts';
import type { TopEvent } from './event.ts';
import { inScope } from './scope.ts';
import { isTooSmall } from './too-small.ts';
import { type RateHistory, scoped, type TopState } from './top-state.ts';
import { reduceViewAnswer } from './view-answers.ts';
import { reduceViewKey } from './view-keys.ts';

const HISTORY = 8;

/** The screen after an event. Pure: what is to be asked of servers follows from the state (`wantedOf`). */
export function reduce(state: TopState, event: TopEvent): TopState {
  switch (event.type) {
    case 'resized':
      return withTable({ ...state, columns: event.columns, rows: event.rows }, {});
    case 'tick':
      return { ...state, nowMs: event.nowMs };
    case 'read':
      return reduceRead(state, event);
    case 'fleet':
      return askedAgain(
        state,
        inScope({ ...state, nowMs: event.nowMs, servers: event.servers, everything: event.everything }),
      );
    case 'rates':
      return { ...state, rates: withRates(state.rates, event.rates) };
    case 'details':
    case 'tunnels':
    case 'events':
    case 'selection':
      return reduceViewAnswer(state, event);
    case 'drain-preview':
    case 'undrain-preview':
    case 'drained':
    case 'undrained':
    case 'tunnel-closed':
      return reduceDialogAnswer(state, event);
    case 'said':
      return { ...state, result: event.result };
    case 'granted':
      return { ...state, wants: undefined };
  }
}

/** A server came back: what a dialog could not be told is asked again, and what stood in its way is not said any more. */
function askedAgain(before: TopState, after: TopState): TopState {
  const { dialog } = after;
  if (dialog === undefined || dialog.step.kind !== 'open' || liveCount(after) <= liveCount(before))
    return after;
  const quiet = { ...dialog, complaint: undefined };
  if (quiet.kind === 'close' || quiet.preview.kind !== 'failed') return { ...after, dialog: quiet };
  const request = after.requests + 1;
  const preview = { kind: 'asking' as const, request };
  return { ...after, requests: request, dialog: { ...quiet, preview } };
}

function liveCount(state: TopState): number {
  return scoped(state).filter(({ link }) => link.kind === 'live').length;
}

/**
 * Keys of one read are what was typed, or pasted into a terminal that does not mark pastes: what follows a key that
 * opened a dialog is not meant for it, and nothing is confirmed but by a key that came alone.
 */
function reduceRead(state: TopState, { keys, pasted }: TopEvent & { type: 'read' }): TopState {
  let now: TopState = state;
  for (const key of keys) {
    const before: TopState = now;
    if (isTooSmall(now) && !worksUnseen(key)) continue;
    // The result has been read; the key still does its work.
    if (now.result !== undefined) now = { ...now, result: undefined };
    now =
      now.dialog === undefined
        ? reduceViewKey(now, key)
        : reduceDialogKey(now, key, keys.length === 1 && pasted === undefined);
    if (now.wants !== undefined) return now;
    if (before.dialog === undefined && now.dialog !== undefined) return now;
    // What was meant for a dialog is not meant for what is behind it.
    if (before.dialog !== undefined && now.dialog === undefined) return now;
  }
  return now;
}

/** What the smallest screen has keys for: leaving it, and a dialog that it hides. */
function worksUnseen(key: Key): boolean {
  return key.kind === 'named' && UNSEEN.has(key.name);
}

const UNSEEN: ReadonlySet<KeyName> = new Set(['ctrl-c', 'ctrl-z', 'ctrl-l', 'escape']);

function withRates(
  before: ReadonlyMap<string, RateHistory>,
  rates: ReadonlyMap<string, Rates>,
): ReadonlyMap<string, RateHistory> {
  const after = new Map<string, RateHistory>();
  for (const [id, now] of rates) {
    const fromNode = [...(before.get(id)?.fromNode ?? []), now.bytesFromNodePerSecond].slice(-HISTORY);
    after.set(id, { now, fromNode });
  }
  return after;
}
