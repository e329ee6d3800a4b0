import type { Disturbance, FrontendKind } from '../messages.ts';
import type { BenchOptions } from '../options.ts';

/** What a row must show. Ratios are of p99. */
export type Goal =
  | { readonly kind: 'to-alone'; readonly atMost: number }
  | { readonly kind: 'to-peer'; readonly atMost: number }
  | { readonly kind: 'absolute'; readonly p99Ms: number; readonly memoryMb: number };

/** What the healthy client does: dial after dial, or one tunnel in which somebody types. */
export type Healthy = 'dials' | 'keystrokes';

/** One line of the table: what one healthy client meets, and what runs beside it. */
export interface IsolationRow {
  readonly name: string;
  readonly frontend: FrontendKind;
  readonly healthy: Healthy;
  readonly beside: Disturbance | undefined;
  /** How many tunnels or dials run beside. */
  readonly tunnels: number;
  readonly goal: Goal | undefined;
}

interface Kind {
  readonly bench: 'isolation' | 'downloads' | 'mixed';
  readonly healthy?: Healthy;
  readonly beside: Disturbance | undefined;
  readonly title: string;
  readonly tunnels: number;
  readonly goal: Goal | undefined;
}

const STALLED: Goal = { kind: 'to-alone', atMost: 2 };
const COPIES: Goal = { kind: 'to-peer', atMost: 0.3 };
const DOWNLOADS: Goal = { kind: 'absolute', p99Ms: 500, memoryMb: 250 };

const KINDS: readonly Kind[] = [
  { bench: 'isolation', beside: undefined, title: 'alone', tunnels: 0, goal: undefined },
  { bench: 'isolation', beside: 'stalled-frontend', title: 'stalled frontend', tunnels: 1, goal: STALLED },
  {
    bench: 'isolation',
    beside: 'stalled-destination',
    title: 'stalled destination',
    tunnels: 1,
    goal: STALLED,
  },
  { bench: 'isolation', beside: 'black-hole', title: 'black-hole dials', tunnels: 500, goal: STALLED },
  { bench: 'isolation', beside: 'down', title: 'copies down', tunnels: 8, goal: COPIES },
  { bench: 'isolation', beside: 'up', title: 'copies up', tunnels: 8, goal: COPIES },
  { bench: 'downloads', beside: 'downloads', title: 'downloads', tunnels: 500, goal: DOWNLOADS },
  { bench: 'mixed', healthy: 'keystrokes', beside: undefined, title: 'alone', tunnels: 0, goal: undefined },
  {
    bench: 'mixed',
    healthy: 'keystrokes',
    beside: 'down',
    title: 'copies down',
    tunnels: 8,
    goal: undefined,
  },
  { bench: 'mixed', healthy: 'keystrokes', beside: 'up', title: 'copies up', tunnels: 8, goal: undefined },
];

/** The rows of `isolation`, `downloads` or `mixed`, in the order in which they run. */
export function isolationRows(
  bench: string,
  options: Pick<BenchOptions, 'frontends' | 'tunnels' | 'match'>,
): IsolationRow[] {
  const kinds = KINDS.filter((kind) => kind.bench === bench);
  return (
    (['connect', 'grpc'] as const)
      .filter((frontend) => options.frontends.includes(frontend))
      .flatMap((frontend) =>
        kinds.flatMap(({ healthy = 'dials', beside, title, tunnels: own, goal }) => {
          const numbers = beside === undefined ? [own] : (options.tunnels ?? [own]);
          return numbers.map((tunnels) => {
            const typed = healthy === 'keystrokes' ? ' keystrokes' : '';
            const name =
              beside === undefined
                ? `${frontend}${typed} alone`
                : `${frontend}${typed} beside ${tunnels} ${title}`;
            return { name, frontend, healthy, beside, tunnels, goal };
          });
        }),
      )
      // Without the dials alone there is nothing to compare with.
      .filter((row) => row.name.includes(options.match) || row.beside === undefined)
  );
}
