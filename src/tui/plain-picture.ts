import type { Agent } from '../proxy/admin/model/agent.ts';
import type { ServerInfo } from '../proxy/admin/model/server-info.ts';
import type { Glyphs } from './badge.ts';
import { agentsView } from './layout/agents-view.ts';
import { asciiLines } from './layout/ascii-lines.ts';
import { clip } from './layout/clip.ts';
import { header } from './layout/header.ts';
import { plainText } from './layout/span.ts';
import { FleetBook } from './link/fleet-book.ts';
import { reduce } from './state/reduce.ts';
import { type ServerState, startState } from './state/top-state.ts';

/** What one server said, or why it did not. */
export type Look =
  | { readonly address: string; readonly info: ServerInfo; readonly agents: readonly Agent[] }
  | { readonly address: string; readonly reason: string };

export interface PictureOptions {
  readonly columns: number;
  readonly nowMs: number;
  readonly glyphs: Glyphs;
}

/** One picture of the agents' view as plain text: the sums, then every agent. Nothing of Ink is loaded for it. */
export function plainPicture(looks: readonly Look[], { columns, nowMs, glyphs }: PictureOptions): string {
  const servers = looks.map((look): ServerState => {
    const { address } = look;
    if ('reason' in look) {
      return {
        address,
        link: { kind: 'connecting', reason: look.reason },
        info: undefined,
        agents: new Map(),
      };
    }
    const agents = new Map(look.agents.map((agent) => [agent.id, agent]));
    return { address, link: { kind: 'live' }, info: look.info, agents };
  });
  const everything = new FleetBook().merge(servers);
  const start = startState({
    addresses: looks.map(({ address }) => address),
    columns,
    // As long as it takes: rows, and what is around them.
    rows: everything.size + 5,
    nowMs,
    glyphs,
    readOnly: false,
  });
  const rates = new Map(
    [...everything].flatMap(([id, agent]) => (agent.rates === undefined ? [] : [[id, agent.rates] as const])),
  );
  const state = reduce(reduce(start, { type: 'fleet', nowMs, servers, everything }), {
    type: 'rates',
    rates,
  });
  // Nothing is selected on paper, and nobody's story is told.
  const shown = { ...state, table: { ...state.table, selected: undefined } };
  const all = [...header(shown), ...agentsView(shown).slice(0, -1)];
  const lines = (glyphs.asciiOnly ? asciiLines(all) : all)
    .map((line) => plainText(clip(line, columns, glyphs.ellipsis)).trimEnd())
    .filter((line) => line !== '');
  return `${lines.join('\n')}\n`;
}
