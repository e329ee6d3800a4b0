import { FRONTENDS, type FrontendKind, type Traffic } from './messages.ts';
import type { BenchOptions } from './options.ts';

/** One line of the table: which load, over which frontend, with how many tunnels at once. */
export interface Row {
  readonly name: string;
  readonly traffic: Traffic;
  readonly frontend: FrontendKind;
  readonly tunnels: number;
}

interface Kind {
  readonly bench: 'bulk' | 'echo' | 'dials';
  readonly traffic: Traffic;
  readonly title: string;
  readonly tunnels: readonly number[];
}

const KINDS: readonly Kind[] = [
  { bench: 'bulk', traffic: 'down', title: 'bulk down', tunnels: [1, 8] },
  { bench: 'bulk', traffic: 'up', title: 'bulk up', tunnels: [1, 8] },
  { bench: 'echo', traffic: 'echo', title: 'echo', tunnels: [1, 64] },
  { bench: 'dials', traffic: 'dials', title: 'dials', tunnels: [1, 16] },
];

/** The rows of a bench, in the order in which they run: one frontend after the other. */
export function rowsOf(bench: string, options: BenchOptions): Row[] {
  const kinds = KINDS.filter((kind) => bench === 'tunnel' || kind.bench === bench);
  return FRONTENDS.filter((frontend) => options.frontends.includes(frontend))
    .flatMap((frontend) =>
      kinds.flatMap(({ traffic, title, tunnels }) =>
        (options.tunnels ?? tunnels).map((n) => ({
          name: `${frontend} ${title} x${n}`,
          traffic,
          frontend,
          tunnels: n,
        })),
      ),
    )
    .filter((row) => row.name.includes(options.match));
}
