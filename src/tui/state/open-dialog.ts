import { ordersOf } from './dialog.ts';
import { EMPTY_FIELD, fieldOf } from './text-field.ts';
import type { TopState, View } from './top-state.ts';

/** Asks before draining; the servers are asked what it would mean. */
export function openDrain(state: TopState, ids: readonly string[]): TopState {
  if (ids.length === 0) return state;
  const order = ids.length === 1 ? state.agents.get(ids[0] ?? '')?.order : undefined;
  const request = state.requests + 1;
  return {
    ...state,
    requests: request,
    dialog: {
      kind: 'drain',
      ids,
      focus: 'cancel',
      reason: fieldOf(order?.reason ?? ''),
      deadline: EMPTY_FIELD,
      atDeadline: order?.atDeadline ?? 'keep',
      until: order?.until ?? 'undrain',
      count: EMPTY_FIELD,
      orders: ordersOf(ids, state.agents),
      preview: { kind: 'asking', request },
      step: { kind: 'open' },
      complaint: undefined,
    },
  };
}

/** Asks before ending the orders of those that have one. */
export function openUndrain(state: TopState, ids: readonly string[]): TopState {
  const draining = ids.filter((id) => {
    const agent = state.agents.get(id);
    return agent !== undefined && (agent.order !== undefined || agent.source !== undefined);
  });
  if (draining.length === 0) {
    if (ids.length === 0) return state;
    const who = ids.length === 1 ? `${ids[0]} has` : `none of ${ids.length} agents has`;
    return {
      ...state,
      result: { tone: 'bad', text: `${who} ${ids.length === 1 ? 'no ' : 'a '}drain order` },
    };
  }
  const request = state.requests + 1;
  return {
    ...state,
    requests: request,
    dialog: {
      kind: 'undrain',
      ids: draining,
      focus: 'cancel',
      orders: ordersOf(draining, state.agents),
      preview: { kind: 'asking', request },
      step: { kind: 'open' },
      complaint: undefined,
    },
  };
}

/** Asks before closing the tunnel under the cursor. */
export function openClose(state: TopState, view: View & { kind: 'tunnels' }): TopState {
  const tunnel = view.data.value?.tunnels.find(({ id }) => id === view.selected);
  if (tunnel === undefined) return state;
  return {
    ...state,
    dialog: { kind: 'close', tunnel, focus: 'cancel', step: { kind: 'open' }, complaint: undefined },
  };
}
