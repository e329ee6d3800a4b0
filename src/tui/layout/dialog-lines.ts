import type { DrainResult } from '../../proxy/admin/model/agent.ts';
import { ageText, bytesText, countText, sinceText } from '../../proxy/admin/model/amounts.ts';
import {
  asksForCount,
  type CloseDialog,
  type Dialog,
  type DrainDialog,
  type DrainFocus,
  tunnelsOf,
  type UndrainDialog,
} from '../state/dialog.ts';
import { isStale, type TopState } from '../state/top-state.ts';
import { clockText } from '../text/amounts.ts';
import { safeText } from '../text/safe-text.ts';
import { wrapText } from '../text/wrap-text.ts';
import type { DialogLines } from './dialog-box.ts';
import { fieldSpans } from './field-spans.ts';
import { EMPTY_LINE, type Line, line, type Span, span, type Tone } from './span.ts';

const NAMED = 5;
const TAKEOVERS = 8;
const FIELD = 24;
/** An agent and a server may say a little differently when a tunnel began. */
const SAME_TUNNEL_MS = 2_000;
const NEW_DIALS = 'New dials: ';
/** Longer lines are broken. */
const MOST_CELLS = 76;

/** What a dialog says. */
export function dialogLines(state: TopState, dialog: Dialog): DialogLines {
  switch (dialog.kind) {
    case 'drain':
      return drainLines(state, dialog);
    case 'undrain':
      return undrainLines(state, dialog);
    case 'close':
      return closeLines(state, dialog);
  }
}

function drainLines(state: TopState, dialog: DrainDialog): DialogLines {
  const { ids } = dialog;
  const one = ids.length === 1 ? state.agents.get(ids[0] ?? '') : undefined;
  const where =
    one === undefined
      ? ''
      : ` (${one.kind}${one.serverCount > 0 ? `, ${one.serverIds.length}/${one.serverCount} servers` : ''})`;
  const title = ids.length === 1 ? `Drain ${safeText(ids[0] ?? '')}${where}?` : `Drain ${ids.length} agents?`;
  const end = [...complaint(state, dialog.complaint), buttons(dialog, 'drain', state)];
  return {
    title,
    foot: end.length,
    lines: [
      // First, so that it is seen where not everything is.
      ...refusal(state, dialog),
      ...names(state, ids),
      ...previewLines(state, dialog),
      EMPTY_LINE,
      ...fields(state, dialog),
      ...end,
    ],
  };
}

/** Which agents, where there are several. */
function names(state: TopState, ids: readonly string[]): Line[] {
  if (ids.length === 1) return [];
  const named = ids.slice(0, NAMED).map((id) => {
    const agent = state.agents.get(id);
    const left = agent === undefined ? 'no longer known' : countText(agent.tunnels, 'tunnel');
    return line(span(`${safeText(id)}  `), span(left, 'quiet'));
  });
  return ids.length > NAMED ? [...named, line(span(`and ${ids.length - NAMED} more`, 'quiet'))] : named;
}

function previewLines(state: TopState, { ids, preview }: DrainDialog): Line[] {
  const lines = [...absent(state, ids), ...said(state, finishing(state, ids, preview), 'plain')];
  if (preview.kind === 'asking') return [...lines, line(span('asking the servers who takes over', 'quiet'))];
  if (preview.kind === 'failed')
    return [...lines, ...said(state, preview.reason, 'bad'), ...withoutTheLost(state)];
  const { results } = preview.value;
  const takeovers = [...new Set(results.flatMap(({ takeover }) => takeover))];
  for (const [i, text] of takeovers.slice(0, TAKEOVERS).entries()) {
    lines.push(...said(state, text, 'plain', i === 0 ? NEW_DIALS : ' '.repeat(NEW_DIALS.length)));
  }
  if (takeovers.length > TAKEOVERS) {
    lines.push(
      line(
        span(`${' '.repeat(NEW_DIALS.length)}and ${takeovers.length - TAKEOVERS} more destinations`, 'quiet'),
      ),
    );
  }
  const notes = [...new Set(results.flatMap((result) => result.notes))];
  for (const text of notes) lines.push(...said(state, text, 'busy'));
  lines.push(...already(results, state.nowMs));
  const go = ids.filter((id) => state.agents.get(id)?.kind === 'go').length;
  if (go > 0 && notes.length === 0) {
    const who = go === 1 ? 'Go agent' : `${go} Go agents`;
    lines.push(line(span(`${who}: kept on these servers only; it does not know`, 'busy')));
  }
  return lines;
}

/** Agents that are not connected, also those that left while the question stood. */
function absent({ agents }: TopState, ids: readonly string[]): Line[] {
  const gone = ids.filter((id) => agents.get(id)?.state === 'gone').length;
  if (gone === 0) return [];
  const who = ids.length === 1 ? 'It is' : `${gone} of them ${gone === 1 ? 'is' : 'are'}`;
  return [line(span(`${who} not connected: an order waits for the return.`, 'busy'))];
}

function refusal(state: TopState, { preview }: DrainDialog): Line[] {
  const guard = preview.kind === 'known' ? preview.value.guard : undefined;
  if (guard === undefined) return [];
  return [...said(state, `Refused: ${guard}`, 'bad'), line(span('Going on forces it.', 'bad'))];
}

/** What a server says, in as many lines as it takes. */
function said({ columns }: TopState, text: string, tone: Tone, label = ''): Line[] {
  const width = Math.min(columns - 4, MOST_CELLS) - label.length;
  return wrapText(safeText(text), width, '  ').map((part, i) =>
    line(span(`${i === 0 ? label : ' '.repeat(label.length)}${part}`, tone)),
  );
}

/** A change is for all servers or for none; where one does not answer, how to go on without it. */
function withoutTheLost(state: TopState): Line[] {
  const { servers, scope } = state;
  const live = servers.filter(({ link }) => link.kind === 'live').length;
  if (scope !== 'all' || live === 0 || live === servers.length) return [];
  return said(state, 'To change it at one server alone: esc, then [ ] to that server.', 'plain');
}

/** `3 tunnels finish there, the oldest 41m to 10.0.1.18:10250`, as far as the servers told. */
function finishing(state: TopState, ids: readonly string[], preview: DrainDialog['preview']): string {
  const tunnels = tunnelsOf(ids, state.agents);
  if (tunnels === 0) return 'no tunnel is open there now';
  const [oldest] = ids
    .flatMap((id) => state.agents.get(id)?.oldestTunnelSince ?? [])
    .sort((a, b) => a.getTime() - b.getTime());
  const first = preview.kind === 'known' ? preview.value.oldest : undefined;
  // The one that was the oldest when the servers were asked may have ended.
  const same =
    first !== undefined && Math.abs(first.since.getTime() - (oldest?.getTime() ?? 0)) < SAME_TUNNEL_MS;
  const where = same ? ` to ${first.destination}` : '';
  const since = oldest === undefined ? '' : `, the oldest ${sinceText(oldest, state.nowMs)}${where}`;
  return `${countText(tunnels, 'tunnel')} ${tunnels === 1 ? 'finishes' : 'finish'} there${since}`;
}

function already(results: readonly DrainResult[], nowMs: number): Line[] {
  return results
    .filter(({ change }) => change !== 'placed')
    .slice(0, NAMED)
    .map(({ order, previous }) => {
      const { actor, since, reason } = previous ?? order;
      const why = reason === '' ? '' : `, ${safeText(reason)}`;
      return line(span(`Drained already by ${safeText(actor)} ${sinceText(since, nowMs)} ago${why}`, 'busy'));
    });
}

function fields(state: TopState, dialog: DrainDialog): Line[] {
  const { focus, reason, deadline, atDeadline, until, count } = dialog;
  const field = (name: DrainFocus, label: Span, ...value: Span[]): Line => {
    const spans = [label, ...value];
    return focus === name ? { spans, focused: true } : { spans };
  };
  const labelled = (name: DrainFocus, text: string, ...value: Span[]): Line => {
    const on = focus === name;
    return field(name, span(`${on ? '>' : ' '} ${text.padEnd(10)}`, on ? 'strong' : 'plain'), ...value);
  };
  const lines = [
    labelled('reason', 'Reason', ...fieldSpans(reason, focus === 'reason', state, FIELD)),
    labelled('until', 'Until', ...radio(state, ['undrain', 'restart'], until, focus === 'until')),
    labelled(
      'deadline',
      'Deadline',
      ...(deadline.text === '' && focus !== 'deadline'
        ? [span(deadlineNow(state, dialog), 'quiet')]
        : fieldSpans(deadline, focus === 'deadline', state, FIELD)),
    ),
    labelled('at-deadline', 'then', ...radio(state, ['keep', 'close'], atDeadline, focus === 'at-deadline')),
  ];
  if (!asksForCount(dialog)) return lines;
  const tunnels = tunnelsOf(dialog.ids, state.agents);
  return [
    ...lines,
    field(
      'count',
      span(`${focus === 'count' ? '>' : ' '} Type the number of tunnels, ${tunnels}: `, 'bad'),
      ...fieldSpans(count, focus === 'count', state, 8),
    ),
  ];
}

function deadlineNow({ agents, nowMs }: TopState, { ids }: DrainDialog): string {
  const deadline = ids.length === 1 ? agents.get(ids[0] ?? '')?.order?.deadline : undefined;
  return deadline === undefined ? 'none' : `${clockText(deadline, nowMs)} (stays)`;
}

function radio({ glyphs }: TopState, choices: readonly string[], value: string, focused: boolean): Span[] {
  return choices.map((choice) =>
    span(`${choice === value ? glyphs.radioOn : glyphs.radioOff} ${choice}  `, focused ? 'strong' : 'plain'),
  );
}

function complaint(state: TopState, text: string | undefined): Line[] {
  if (text !== undefined) return said(state, text, 'bad');
  return isStale(state)
    ? [line(span('No server answers: nothing can be changed now.', 'bad'))]
    : [EMPTY_LINE];
}

/** Readable without colour: the brackets are on the one that Enter presses. */
function buttons({ focus, step }: Dialog, word: string, state: TopState): Line {
  if (step.kind === 'applying') return line(span('asking the servers to do it', 'busy'));
  const button = (text: string, on: boolean): Span => (on ? span(`[ ${text} ]`, 'key') : span(`  ${text}  `));
  const act = button(word, focus === 'confirm');
  return line(
    span(' '.repeat(12)),
    button('Cancel', focus === 'cancel'),
    span('   '),
    isStale(state) ? { ...act, tone: 'quiet' } : act,
  );
}

function undrainLines(state: TopState, dialog: UndrainDialog): DialogLines {
  const { ids, preview } = dialog;
  const orders = ids.slice(0, NAMED).flatMap((id) => {
    const order = state.agents.get(id)?.order;
    if (order === undefined) return [];
    const why = order.reason === '' ? '' : `, ${safeText(order.reason)}`;
    const who = ids.length === 1 ? 'Order' : safeText(id);
    return [
      line(span(`${who}: by ${safeText(order.actor)} ${sinceText(order.since, state.nowMs)} ago${why}`)),
    ];
  });
  const answer =
    preview.kind === 'asking'
      ? [line(span('asking the servers', 'quiet'))]
      : preview.kind === 'failed'
        ? [...said(state, preview.reason, 'bad'), ...withoutTheLost(state)]
        : [...new Set(preview.value.flatMap(({ notes }) => notes))].flatMap((text) =>
            said(state, text, 'busy'),
          );
  const end = [...complaint(state, dialog.complaint), buttons(dialog, 'undrain', state)];
  return {
    foot: end.length,
    title: ids.length === 1 ? `Undrain ${safeText(ids[0] ?? '')}?` : `Undrain ${ids.length} agents?`,
    lines: [
      ...orders,
      line(span(ids.length === 1 ? 'It takes new dials again.' : 'They take new dials again.')),
      ...answer,
      ...end,
    ],
  };
}

function closeLines(state: TopState, dialog: CloseDialog): DialogLines {
  const { tunnel } = dialog;
  const bytes = `${bytesText(tunnel.bytesToNode)} to the node, ${bytesText(tunnel.bytesFromNode)} from it`;
  const end = [...complaint(state, dialog.complaint), buttons(dialog, 'close it', state)];
  return {
    foot: end.length,
    title: `Close the tunnel ${safeText(tunnel.id)}?`,
    lines: [
      line(
        span(`${safeText(tunnel.client)} -> ${safeText(tunnel.agent)} -> ${safeText(tunnel.destination)}`),
      ),
      line(
        span(
          `open for ${ageText(tunnel.ageSeconds)}, last byte ${ageText(tunnel.idleSeconds)} ago; ${bytes}`,
        ),
      ),
      line(span('Both ends see it as cut.', 'busy')),
      ...end,
    ],
  };
}
