import type { DrainRequest } from '../../proxy/admin/model/order.ts';
import { parseDuration } from '../text/amounts.ts';
import { tableRows } from './agent-table.ts';
import type { DrainDialog } from './dialog.ts';
import { type TopState, type TunnelSort, viewOf } from './top-state.ts';

/** What the screen asks of the servers in scope. Whoever runs it begins what is new and aborts what is gone, by key. */
export type Wanted = { readonly key: string } & (
  | { readonly kind: 'rates'; readonly ids: readonly string[] }
  | { readonly kind: 'details'; readonly id: string }
  | { readonly kind: 'tunnels'; readonly agent: string | undefined; readonly sort: TunnelSort }
  | { readonly kind: 'events'; readonly agent: string | undefined }
  | { readonly kind: 'selection'; readonly target: string }
  | { readonly kind: 'drain-preview'; readonly request: number; readonly drain: DrainRequest }
  | { readonly kind: 'undrain-preview'; readonly request: number; readonly ids: readonly string[] }
  | { readonly kind: 'drain'; readonly request: number; readonly drain: DrainRequest }
  | { readonly kind: 'undrain'; readonly request: number; readonly ids: readonly string[] }
  | { readonly kind: 'close'; readonly request: number; readonly tunnel: string; readonly server: string }
);

/** What is to be asked, as it follows from the screen. */
export function wantedOf(state: TopState): readonly Wanted[] {
  const wanted: Wanted[] = [];
  const { scope, dialog } = state;
  const view = viewOf(state);
  if (view.kind === 'agents') {
    const ids = state.table.order.slice(state.table.top, state.table.top + tableRows(state));
    if (ids.length > 0)
      wanted.push({ kind: 'rates', key: `rates ${scope} ${[...ids].sort().join(' ')}`, ids });
  }
  if (view.kind === 'details')
    wanted.push({ kind: 'details', key: `details ${scope} ${view.id}`, id: view.id });
  if (view.kind === 'tunnels') {
    const { agent, sort } = view;
    wanted.push({ kind: 'tunnels', key: `tunnels ${scope} ${sort} ${agent ?? ''}`, agent, sort });
  }
  if (view.kind === 'events') {
    wanted.push({ kind: 'events', key: `events ${scope} ${view.agent ?? ''}`, agent: view.agent });
  }
  const target = view.kind === 'selection' ? view.target.text.trim() : '';
  if (target !== '') wanted.push({ kind: 'selection', key: `selection ${scope} ${target}`, target });
  if (dialog !== undefined) wanted.push(...ofDialog(dialog));
  return wanted;
}

function ofDialog(dialog: NonNullable<TopState['dialog']>): Wanted[] {
  const { step } = dialog;
  if (dialog.kind === 'close') {
    if (step.kind !== 'applying') return [];
    const { id, serverId } = dialog.tunnel;
    return [
      { kind: 'close', key: `apply ${step.request}`, request: step.request, tunnel: id, server: serverId },
    ];
  }
  if (dialog.kind === 'undrain') {
    const { ids, preview } = dialog;
    if (step.kind === 'applying') {
      return [{ kind: 'undrain', key: `apply ${step.request}`, request: step.request, ids }];
    }
    if (preview.kind !== 'asking') return [];
    return [{ kind: 'undrain-preview', key: `preview ${preview.request}`, request: preview.request, ids }];
  }
  if (step.kind === 'applying') {
    const drain = drainRequest(dialog);
    return [{ kind: 'drain', key: `apply ${step.request}`, request: step.request, drain }];
  }
  const { preview } = dialog;
  if (preview.kind !== 'asking') return [];
  const drain = { ...drainRequest(dialog), force: false };
  return [{ kind: 'drain-preview', key: `preview ${preview.request}`, request: preview.request, drain }];
}

/** What the dialog says. An order that is already there gets only what was changed, so that nothing else is. */
function drainRequest(dialog: DrainDialog): DrainRequest {
  const { ids, reason, deadline, atDeadline, until, orders, preview } = dialog;
  const order = ids.length === 1 ? orders.get(ids[0] ?? '') : undefined;
  const deadlineSeconds = parseDuration(deadline.text.trim());
  const text = reason.text.trim();
  return {
    agentIds: ids,
    ...(text === (order?.reason ?? '') ? {} : { reason: text }),
    ...(deadlineSeconds === undefined ? {} : { deadlineSeconds }),
    ...(atDeadline === (order?.atDeadline ?? 'keep') ? {} : { atDeadline }),
    ...(until === (order?.until ?? 'undrain') ? {} : { until }),
    ...(preview.kind === 'known' && preview.value.guard !== undefined ? { force: true } : {}),
  };
}
