import assert from 'node:assert/strict';
import { it } from 'node:test';
import { frame } from '../../src/tui/layout/frame.ts';
import { header } from '../../src/tui/layout/header.ts';
import { plainText } from '../../src/tui/layout/span.ts';
import type { TopState } from '../../src/tui/state/top-state.ts';
import { mixedFleet, screenOf } from './fleet.ts';

const whoLine = (state: TopState): string => plainText(header(state)[0] ?? { spans: [] });

it('the header says how old a live picture is, and the word of each second keeps it at one', () => {
  const state = screenOf(mixedFleet());
  const heardAgo = (...agesMs: readonly number[]): TopState => ({
    ...state,
    servers: agesMs.flatMap((ageMs) =>
      state.servers.map((server) => ({
        ...server,
        link: { kind: 'live' as const, heardMs: state.nowMs - ageMs },
      })),
    ),
  });
  assert.match(whoLine(heardAgo(0)), / live 1s$/);
  assert.match(whoLine(heardAgo(1_000)), / live 1s$/);
  assert.match(whoLine(heardAgo(3_200)), / live 4s$/);
  // Of several servers the one that was heard of longest ago.
  assert.match(whoLine(heardAgo(200, 2_900)), / live 3s$/);
});

it('does not say that no agent is connected while no server has said its agents', () => {
  const state = screenOf([]);
  const shown = (link: TopState['servers'][number]['link']): string =>
    frame({ ...state, servers: state.servers.map((server) => ({ ...server, link })) })
      .map(plainText)
      .join('\n');
  assert.match(shown({ kind: 'live' }), /no agent is connected/);
  assert.match(shown({ kind: 'connecting' }), /asking the servers/);
  assert.match(shown({ kind: 'connecting', reason: 'it says nothing' }), /it says nothing/);
});
