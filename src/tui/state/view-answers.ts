import type { Outcome, TopEvent } from './event.ts';
import { type Loaded, type TopState, type View, viewOf } from './top-state.ts';

type Answer = Extract<TopEvent, { type: 'details' | 'tunnels' | 'events' | 'selection' }>;

/** Events that a view keeps. */
const MAX_EVENTS = 2_000;

/** Puts an answer into the view that asked for it; one that is no longer there gets nothing. */
export function reduceViewAnswer(state: TopState, answer: Answer): TopState {
  const view = answered(viewOf(state), answer);
  if (view === undefined) return state;
  return { ...state, views: [...state.views.slice(0, -1), view] };
}

function answered(view: View, answer: Answer): View | undefined {
  switch (answer.type) {
    case 'details':
      if (view.kind !== 'details' || view.id !== answer.id) return undefined;
      return { ...view, data: load(view.data, answer.outcome) };
    case 'tunnels': {
      if (view.kind !== 'tunnels' || view.agent !== answer.agent || view.sort !== answer.sort)
        return undefined;
      const data = load(view.data, answer.outcome);
      const ids = data.value?.tunnels.map(({ id }) => id) ?? [];
      const was = view.data.value?.tunnels.findIndex(({ id }) => id === view.selected) ?? 0;
      const kept = view.selected !== undefined && ids.includes(view.selected);
      return {
        ...view,
        data,
        selected: kept ? view.selected : ids[Math.min(Math.max(0, was), ids.length - 1)],
      };
    }
    case 'events': {
      if (view.kind !== 'events' || view.agent !== answer.agent) return undefined;
      if (!answer.outcome.ok) return { ...view, failure: answer.outcome.reason };
      const known = new Set(view.events.map(({ epoch, number }) => `${epoch} ${number}`));
      const fresh = answer.outcome.value.filter(({ epoch, number }) => !known.has(`${epoch} ${number}`));
      if (fresh.length === 0) return view.failure === undefined ? view : { ...view, failure: undefined };
      const events = [...view.events, ...fresh]
        .sort((a, b) => a.time.getTime() - b.time.getTime() || a.number - b.number)
        .slice(-MAX_EVENTS);
      // Scrolled back, the lines under the eyes stay.
      return { ...view, events, failure: undefined, back: view.back === 0 ? 0 : view.back + fresh.length };
    }
    case 'selection':
      if (view.kind !== 'selection' || view.target.text.trim() !== answer.target) return undefined;
      return { ...view, data: load(view.data, answer.outcome) };
  }
}

function load<T>(before: Loaded<T>, outcome: Outcome<T>): Loaded<T> {
  return outcome.ok ? { value: outcome.value, failure: undefined } : { ...before, failure: outcome.reason };
}
