import { ageText, countText } from '../../proxy/admin/model/amounts.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import { scrollTo } from '../state/agent-table.ts';
import type { TopState, View } from '../state/top-state.ts';
import { safeText } from '../text/safe-text.ts';
import { EMPTY_LINE, type Line, line, span } from './span.ts';
import { tunnelCells, tunnelColumns, tunnelHead } from './tunnel-line.ts';

/** The tunnels of an agent, or of all: where to, for whom, how long, how much. */
export function tunnelsView(
  state: TopState,
  view: View & { kind: 'tunnels' },
  lines: number,
): readonly Line[] {
  const { data, agent, sort, selected } = view;
  const whose = agent === undefined ? 'all agents' : safeText(agent);
  const { value, failure } = data;
  const notes = value === undefined ? '' : `: ${countText(value.total, 'tunnel')}, by ${sort}`;
  const more =
    value !== undefined && value.tunnels.length < value.total ? `, the first ${value.tunnels.length}` : '';
  const title = line(span(` Tunnels of ${whose}`, 'strong'), span(`${notes}${more}`, 'quiet'));
  if (value === undefined) {
    return [
      title,
      EMPTY_LINE,
      line(span(`   ${failure ?? 'asking the servers'}`, failure === undefined ? 'quiet' : 'bad')),
    ];
  }
  const columns = tunnelColumns(state.columns - 3, agent === undefined);
  const rows = Math.max(1, lines - 3);
  const at = value.tunnels.findIndex(({ id }) => id === selected);
  const top = scrollTo(0, at, value.tunnels.length, rows);
  const body = value.tunnels.slice(top, top + rows).map((tunnel): Line => {
    const here = tunnel.id === selected;
    const spans = [
      span(here ? ' > ' : '   ', 'strong'),
      ...tunnelCells(tunnel, columns, state.glyphs.ellipsis),
    ];
    return here ? { spans, selected: true } : { spans };
  });
  if (body.length === 0) body.push(line(span('   no tunnel is open', 'quiet')));
  while (body.length < rows) body.push(EMPTY_LINE);
  const one = value.tunnels[at];
  const last =
    failure !== undefined
      ? line(span(` ${failure}`, 'bad'))
      : one === undefined
        ? EMPTY_LINE
        : line(
            span(
              ` ${safeText(one.id)}: ${pausedText(one)}${safeText(one.client)} -> ${safeText(one.agent)} -> ${safeText(one.destination)}, ${safeText(one.mode)}, ${safeText(one.strategy)}, server ${safeText(one.serverId)}, dial ${safeText(one.dialId)}`,
              'strong',
            ),
          );
  return [title, line(span('   '), ...tunnelHead(columns, sort)), ...body, last];
}

function pausedText({ pausedSeconds }: Tunnel): string {
  return pausedSeconds === undefined ? '' : `paused for ${ageText(pausedSeconds)}, `;
}
