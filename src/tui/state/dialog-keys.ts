import type { Key } from '../terminal/key.ts';
import { parseDuration } from '../text/amounts.ts';
import { arrange } from './agent-table.ts';
import {
  asksForCount,
  changedSince,
  type Dialog,
  type DrainDialog,
  type DrainFocus,
  tunnelsOf,
} from './dialog.ts';
import { editField } from './text-field.ts';
import { isStale, mayAct, type TopState } from './top-state.ts';

/**
 * A key while a dialog is open.
 * @param alone it came by itself: what comes with others may be pasted, and confirms nothing
 */
export function reduceDialogKey(state: TopState, key: Key, alone: boolean): TopState {
  const dialog = state.dialog;
  if (dialog === undefined) return state;
  if (key.kind === 'named') {
    switch (key.name) {
      case 'ctrl-c':
        return { ...state, wants: 'quit' };
      case 'ctrl-z':
        return { ...state, wants: 'suspend' };
      case 'ctrl-l':
        return { ...state, wants: 'redraw' };
      case 'escape':
        return closeDialog(state);
      case 'tab':
      case 'down':
        return withDialog(state, moveFocus(dialog, 1));
      case 'shift-tab':
      case 'up':
        return withDialog(state, moveFocus(dialog, -1));
      case 'enter':
        if (dialog.focus === 'cancel') return closeDialog(state);
        if (dialog.focus !== 'confirm') return withDialog(state, moveFocus(dialog, 1));
        return alone ? confirm(state, dialog) : notTyped(state, dialog);
      default:
    }
  }
  if (dialog.step.kind !== 'open') return state;
  if (dialog.focus === 'cancel' || dialog.focus === 'confirm') {
    const turns = key.kind === 'named' && (key.name === 'left' || key.name === 'right');
    return turns ? withDialog(state, moveFocus(dialog, key.name === 'left' ? -1 : 1, BUTTONS)) : state;
  }
  return dialog.kind === 'drain' ? editDrain(state, dialog, key) : state;
}

/** Leaves the question; a request that is under way is not taken back, and its result is told. */
export function closeDialog(state: TopState): TopState {
  const { dialog } = state;
  if (dialog === undefined || dialog.step.kind === 'applying') return state;
  return arrange({ ...state, dialog: undefined });
}

const BUTTONS: readonly DrainFocus[] = ['cancel', 'confirm'];

/** Where the focus goes, in the order of Tab. */
export function focusOrder(dialog: Dialog): readonly DrainFocus[] {
  if (dialog.kind !== 'drain') return BUTTONS;
  const fields: DrainFocus[] = ['reason', 'until', 'deadline', 'at-deadline'];
  return [...fields, ...(asksForCount(dialog) ? (['count'] as const) : []), ...BUTTONS];
}

function moveFocus(dialog: Dialog, by: number, order = focusOrder(dialog)): Dialog {
  const at = order.indexOf(dialog.focus);
  const focus = order[(at + by + order.length) % order.length] ?? 'cancel';
  // Only a drain dialog has more than the two buttons.
  return { ...dialog, focus, complaint: undefined } as Dialog;
}

function editDrain(state: TopState, dialog: DrainDialog, key: Key): TopState {
  const { focus } = dialog;
  if (focus === 'reason' || focus === 'deadline' || focus === 'count') {
    const field = editField(dialog[focus], key);
    return field === undefined
      ? state
      : withDialog(state, { ...dialog, [focus]: field, complaint: undefined });
  }
  const turns =
    key.kind === 'text' ? key.text === ' ' : key.kind === 'named' && /^(left|right)$/.test(key.name);
  if (!turns) return state;
  const turned: DrainDialog =
    focus === 'until'
      ? { ...dialog, until: dialog.until === 'undrain' ? 'restart' : 'undrain' }
      : { ...dialog, atDeadline: dialog.atDeadline === 'keep' ? 'close' : 'keep' };
  // It may be refused now, or no longer: the servers say.
  const request = state.requests + 1;
  return withDialog(
    { ...state, requests: request },
    { ...turned, preview: { kind: 'asking', request }, complaint: undefined },
  );
}

/** Whoever typed fast is told why nothing happened. */
function notTyped(state: TopState, dialog: Dialog): TopState {
  if (dialog.step.kind !== 'open') return state;
  return withDialog(state, { ...dialog, complaint: 'that came as pasted text comes: enter once more' });
}

function confirm(state: TopState, dialog: Dialog): TopState {
  if (dialog.step.kind === 'applying') return state;
  const complaint = complaintOf(state, dialog);
  if (complaint !== undefined) return withDialog(state, { ...dialog, complaint });
  const request = state.requests + 1;
  return withDialog(
    { ...state, requests: request },
    { ...dialog, step: { kind: 'applying', request }, complaint: undefined },
  );
}

/** Why it cannot be confirmed as it stands. */
function complaintOf(state: TopState, dialog: Dialog): string | undefined {
  if (!mayAct(state)) return 'you may look, not change';
  if (isStale(state)) return 'no server answers: nothing can be changed';
  if (dialog.kind === 'close') return undefined;
  if (dialog.preview.kind === 'asking') return 'the servers are still being asked; again in a moment';
  if (dialog.preview.kind === 'failed') return dialog.preview.reason;
  const gone = dialog.ids.filter((id) => !state.agents.has(id));
  if (gone.length > 0) return `${gone[0]} is no longer known`;
  const changed = changedSince(dialog.orders, state.agents);
  if (changed !== undefined) return `the order of ${changed} was changed meanwhile: esc, and look again`;
  if (dialog.kind === 'undrain') return undefined;
  const deadline = dialog.deadline.text.trim();
  if (deadline !== '' && parseDuration(deadline) === undefined) {
    return `"${deadline}" is no duration; 30m, 2h, 1h30m; 0 takes a deadline away`;
  }
  if (!asksForCount(dialog)) return undefined;
  const tunnels = tunnelsOf(dialog.ids, state.agents);
  return dialog.count.text.trim() === String(tunnels) ? undefined : `type the number of tunnels: ${tunnels}`;
}

function withDialog(state: TopState, dialog: Dialog): TopState {
  return { ...state, dialog };
}
