import { FRONTENDS, type FrontendKind, type Traffic } from './messages.ts';
import type { BenchOptions } from './options.ts';

/** One line of the table: which load, over which frontend, with how many tunnels at once. */
export interface Row {
  readonly name: string;
  readonly traffic: Traffic;
  readonly frontend: FrontendKind;
  readonly tunnels: number;
  /** How long the link between server and agent holds everything back, each way; 0: there is nothing between them. */
  readonly linkMs: number;
}

interface Kind {
  readonly traffic: Traffic;
  readonly tunnels: readonly number[];
  readonly frontends: readonly FrontendKind[];
  readonly linkMs?: number;
}

const TITLES: Readonly<Record<Traffic, string>> = {
  down: 'bulk down',
  up: 'bulk up',
  echo: 'echo',
  dials: 'dials',
};

const BOTH: readonly FrontendKind[] = ['connect', 'grpc'];
const CONNECT: readonly FrontendKind[] = ['connect'];

const BULK: readonly Kind[] = [
  { traffic: 'down', tunnels: [1, 8, 64], frontends: BOTH },
  { traffic: 'up', tunnels: [1, 8, 64], frontends: BOTH },
];
const ECHO: readonly Kind[] = [{ traffic: 'echo', tunnels: [1, 64, 512], frontends: BOTH }];
const DIALS: readonly Kind[] = [{ traffic: 'dials', tunnels: [1, 16, 128], frontends: FRONTENDS }];

const BENCHES: Readonly<Record<string, readonly Kind[]>> = {
  tunnel: [...BULK, ...ECHO, ...DIALS],
  bulk: BULK,
  echo: ECHO,
  dials: DIALS,
  link: [10, 20].flatMap((linkMs) => [
    { traffic: 'down', tunnels: [1], frontends: CONNECT, linkMs },
    { traffic: 'up', tunnels: [1], frontends: CONNECT, linkMs },
  ]),
  chain: [
    { traffic: 'down', tunnels: [1, 64], frontends: CONNECT },
    { traffic: 'up', tunnels: [1, 64], frontends: CONNECT },
  ],
  flow: [
    { traffic: 'down', tunnels: [1, 8], frontends: CONNECT },
    { traffic: 'up', tunnels: [1, 8], frontends: CONNECT },
    { traffic: 'echo', tunnels: [1, 64], frontends: CONNECT },
  ],
  guard: [
    { traffic: 'down', tunnels: [1, 8], frontends: CONNECT },
    { traffic: 'up', tunnels: [1, 8], frontends: CONNECT },
    { traffic: 'echo', tunnels: [1, 64], frontends: CONNECT },
    { traffic: 'dials', tunnels: [16], frontends: CONNECT },
  ],
};

/** Benches that consist of such rows. */
export const ROW_BENCHES: readonly string[] = Object.keys(BENCHES);

/** The rows of a bench, in the order in which they run: one frontend after the other. */
export function rowsOf(bench: string, options: Pick<BenchOptions, 'frontends' | 'tunnels' | 'match'>): Row[] {
  const kinds = BENCHES[bench] ?? [];
  return FRONTENDS.filter((frontend) => options.frontends.includes(frontend))
    .flatMap((frontend) =>
      kinds
        .filter((kind) => kind.frontends.includes(frontend))
        .flatMap(({ traffic, tunnels, linkMs = 0 }) =>
          (options.tunnels ?? tunnels).map((n) => {
            const link = linkMs === 0 ? '' : `, ${linkMs} ms each way`;
            return {
              name: `${frontend} ${TITLES[traffic]} x${n}${link}`,
              traffic,
              frontend,
              tunnels: n,
              linkMs,
            };
          }),
        ),
    )
    .filter((row) => row.name.includes(options.match));
}
