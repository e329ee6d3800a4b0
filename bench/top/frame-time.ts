import { UNICODE } from '../../src/tui/badge.ts';
import { reduce } from '../../src/tui/state/reduce.ts';
import { startState } from '../../src/tui/state/top-state.ts';
import { madeServerInfo, makeFleet } from './made-fleet.ts';

const FRAMES = 40;

/** Milliseconds from a refresh to its frame on the surface, in this process: state, sort, layout, Ink. */
export async function frameMs(agents: number, columns: number, rows: number): Promise<number> {
  // As in the bundle: React's other build is slower, and keeps what it rendered.
  process.env.NODE_ENV = 'production';
  const { InkScreen } = await import('../../src/tui/paint/ink-screen.tsx');
  const { Surface } = await import('../../src/tui/paint/surface.ts');
  const fleet = makeFleet(agents);
  const surface = new Surface(() => {}, rows);
  surface.open();
  const screen = new InkScreen(surface, 1);
  let nowMs = Date.now();
  let state = startState({
    addresses: ['unix:///bench'],
    columns,
    rows,
    nowMs,
    glyphs: UNICODE,
    readOnly: false,
  });
  const byId = new Map(fleet.agents.map((agent) => [agent.id, agent]));
  let startMs = 0;
  for (let i = 0; i < FRAMES * 2; i++) {
    if (i === FRAMES) startMs = performance.now();
    for (const agent of fleet.next()) byId.set(agent.id, agent);
    nowMs += 1_000;
    const everything = new Map(byId);
    const info = madeServerInfo(fleet);
    const servers = [{ address: 'unix:///bench', link: { kind: 'live' as const }, info, agents: everything }];
    state = reduce(state, { type: 'fleet', nowMs, servers, everything });
    screen.show(state);
  }
  const ms = (performance.now() - startMs) / FRAMES;
  screen.close();
  return ms;
}
