import type { Agent, DrainResult, UndrainResult } from '../../proxy/admin/model/agent.ts';
import type { Order } from '../../proxy/admin/model/order.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import type { TextField } from './text-field.ts';

/** A question before something changes. Nothing is confirmed but by Enter on its button, or a typed count. */
export type Dialog = DrainDialog | UndrainDialog | CloseDialog;

export interface DrainDialog {
  readonly kind: 'drain';
  /** Asked about by ID; looked up again when it is confirmed. */
  readonly ids: readonly string[];
  readonly focus: DrainFocus;
  readonly reason: TextField;
  readonly deadline: TextField;
  readonly atDeadline: 'keep' | 'close';
  readonly until: 'undrain' | 'restart';
  /** The number of tunnels, typed where that is asked for. */
  readonly count: TextField;
  readonly orders: OrdersSeen;
  readonly preview: Preview<DrainPreview>;
  readonly step: Step;
  /** What is wrong with what was typed. */
  readonly complaint: string | undefined;
}

export type DrainFocus = 'reason' | 'until' | 'deadline' | 'at-deadline' | 'count' | 'cancel' | 'confirm';

export interface DrainPreview {
  readonly results: readonly DrainResult[];
  /** The guard's refusal; confirming then forces. */
  readonly guard: string | undefined;
  /** The tunnel that is open there for the longest time. */
  readonly oldest?: Pick<Tunnel, 'destination' | 'since'>;
}

export interface UndrainDialog {
  readonly kind: 'undrain';
  readonly ids: readonly string[];
  readonly focus: 'cancel' | 'confirm';
  readonly orders: OrdersSeen;
  readonly preview: Preview<readonly UndrainResult[]>;
  readonly step: Step;
  readonly complaint: string | undefined;
}

export interface CloseDialog {
  readonly kind: 'close';
  readonly tunnel: Tunnel;
  readonly focus: 'cancel' | 'confirm';
  readonly step: Step;
  readonly complaint: string | undefined;
}

/** What the servers say would happen. */
export type Preview<T> =
  | { readonly kind: 'asking'; readonly request: number }
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'failed'; readonly reason: string };

export type Step = { readonly kind: 'open' } | { readonly kind: 'applying'; readonly request: number };

/** The orders as they were when the dialog opened, by agent ID: what was asked about, and is compared with. */
export type OrdersSeen = ReadonlyMap<string, Order | undefined>;

export function ordersOf(ids: readonly string[], agents: ReadonlyMap<string, Agent>): OrdersSeen {
  return new Map(ids.map((id) => [id, agents.get(id)?.order]));
}

/** The first of them whose order somebody placed, changed or ended since. */
export function changedSince(orders: OrdersSeen, agents: ReadonlyMap<string, Agent>): string | undefined {
  for (const [id, before] of orders) {
    const now = agents.get(id)?.order;
    if (now?.id !== before?.id || now?.version !== before?.version) return id;
  }
  return undefined;
}

/** Tunnels that are on an agent now, over all servers. */
export function tunnelsOf(ids: readonly string[], agents: ReadonlyMap<string, Agent>): number {
  return ids.reduce((sum, id) => sum + (agents.get(id)?.tunnels ?? 0), 0);
}

/** Whether the dialog asks for the number of tunnels: it will cut them, or the guard warns. */
export function asksForCount({ atDeadline, deadline, preview }: DrainDialog): boolean {
  if (preview.kind === 'known' && preview.value.guard !== undefined) return true;
  return atDeadline === 'close' && deadline.text.trim() !== '';
}
