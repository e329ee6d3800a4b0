import { parseArgs } from 'node:util';
import { FRONTENDS, type FrontendKind } from './messages.ts';

export const ISOLATION_NAMES = ['isolation', 'downloads', 'mixed'];

export const USAGE = `Usage: npm run bench -- NAME [--option=value]...

  selection   choosing an agent: ns per dial (see selection.ts for its options)
  top         the screen at 100, 1,000 and 5,000 agents: start, keys, CPU, memory, a frame (--seconds=N)
  admin       what watching and listing agents costs a server, at 10, 100 and 1,000 of them (--seconds=N)
  agents-start  how long the command agents takes, from the bundle
  tunnel      all of bulk, echo and dials
  bulk        one direction as fast as it goes, down (to the frontend) and up
  echo        64 bytes there and back, over tunnels that are open already
  dials       open a tunnel, one echo, close it
  link        bulk over one tunnel where the link between server and agent is long: 10 and 20 ms each way
  chain       bulk beside a chain of plain relays, one process each, that pipe()
  flow        CPU with and without flow control between server and agent
  guard       under two minutes: fails if a ratio to baselines of the same run is below its floor (for releases)
  memory      what 200, 1,000 and 5,000 open tunnels that rest cost server and agent (--tunnels=N,N,N)
  scale       10 to 10,000 simulated agents at one server, with 5,000 tunnels: memory, dials, echoes, list and watch
  targets     the targets of several runs as one table: FILE... that --json wrote
  start       a server's start until it is healthy, an agent's until a dial is answered
  isolation   the dials of one healthy client alone, and beside what stalls, hangs or copies
  downloads   500 downloads of 5 MB at once, every byte compared, and dials meanwhile
  mixed       somebody types, alone and beside bulk copies

  --serve=CMD, --agent=CMD             the pair called "ours" (default: this checkout's build)
  --peer-serve=CMD, --peer-agent=CMD   a flag-compatible pair to run beside it
  --args=ARGS                          more flags for our server and agent (default: --v=1)
  --peer-args=ARGS                     the same for the peer; repeated: each is run, and the better one counts
                                       (default: none, and --v=1)
  --only=ours|peer                     one of the two pairs
  --frontend=connect,grpc              protocols of the frontend (default: all that a row has; dials have also
                                       grpc-shared and connect-mtls)
  --tunnels=N,N                        tunnels at once (dials: in parallel) instead of the row's own numbers
                                       (isolation, downloads: how many of what runs beside the dials)
  --agents=N,N                         scale: sizes of the fleet (default: 10,1000,5000,10000)
  --match=TEXT                         only rows whose name contains it
  --rounds=N                           rounds (default 3)
  --seconds=S                          length of one cell (default 2 to 2.5; isolation: 5)
  --warmup=S                           load before a cell is measured (default 0.5; bulk,
                                       echo, dials: 3; isolation: 2)
  --stall=S                            isolation: a dial without an answer for so long is a stall (default 5)
  --no-ceiling                         do not measure the load generator itself
  --json=FILE                          write everything that was measured to a file
`;

/** The command line of a pair: words, without a shell. */
export interface PairCommands {
  readonly serve: readonly string[];
  readonly agent: readonly string[];
  /** Further flags for both. */
  readonly extra: readonly string[];
}

export interface BenchOptions {
  readonly ours: PairCommands | undefined;
  /** Variants of one peer that differ in their flags; none without a peer. */
  readonly peers: readonly PairCommands[];
  readonly frontends: readonly FrontendKind[];
  readonly tunnels: readonly number[] | undefined;
  /** Of simulated fleets. */
  readonly agents: readonly number[] | undefined;
  readonly match: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly stallSeconds: number;
  readonly ceiling: boolean;
  readonly jsonFile: string | undefined;
}

/**
 * Reads the options of the benches that run pairs.
 * @param defaults of --seconds and --warmup
 * @throws Error with a sentence about the option that is wrong
 */
export function readOptions(
  args: string[],
  defaults: { seconds: string; warmup: string } = { seconds: '2.5', warmup: '0.5' },
): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      serve: { type: 'string', default: 'node bin/konnectivity-ts.js serve' },
      agent: { type: 'string', default: 'node bin/konnectivity-ts.js agent' },
      'peer-serve': { type: 'string' },
      'peer-agent': { type: 'string' },
      args: { type: 'string', default: '--v=1' },
      'peer-args': { type: 'string', multiple: true, default: ['', '--v=1'] },
      only: { type: 'string' },
      frontend: { type: 'string', default: FRONTENDS.join(',') },
      tunnels: { type: 'string' },
      agents: { type: 'string' },
      match: { type: 'string', default: '' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: defaults.seconds },
      warmup: { type: 'string', default: defaults.warmup },
      stall: { type: 'string', default: '5' },
      'no-ceiling': { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const peerServe = values['peer-serve'];
  const peerAgent = values['peer-agent'];
  if ((peerServe === undefined) !== (peerAgent === undefined)) {
    throw new Error('--peer-serve and --peer-agent go together');
  }
  const { only } = values;
  if (only !== undefined && only !== 'ours' && only !== 'peer') {
    throw new Error(`--only is ours or peer, not ${only}`);
  }
  if (only === 'peer' && peerServe === undefined) throw new Error('--only=peer needs --peer-serve');
  const peers =
    peerServe === undefined || peerAgent === undefined || only === 'ours'
      ? []
      : values['peer-args'].map((extra) => pair(peerServe, peerAgent, extra));
  return {
    ours: only === 'peer' ? undefined : pair(values.serve, values.agent, values.args),
    peers,
    frontends: list(values.frontend).map(frontend),
    tunnels: values.tunnels === undefined ? undefined : list(values.tunnels).map((n) => count('tunnels', n)),
    agents: values.agents === undefined ? undefined : list(values.agents).map((n) => count('agents', n)),
    match: values.match,
    rounds: count('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    warmupSeconds: positive('warmup', values.warmup),
    stallSeconds: positive('stall', values.stall),
    ceiling: !values['no-ceiling'],
    jsonFile: values.json,
  };
}

function pair(serve: string, agent: string, extra: string): PairCommands {
  return { serve: words(serve), agent: words(agent), extra: words(extra) };
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

function list(text: string): string[] {
  return text.split(',').filter((word) => word !== '');
}

function frontend(text: string): FrontendKind {
  const kind = FRONTENDS.find((known) => known === text);
  if (kind === undefined) throw new Error(`--frontend is one of ${FRONTENDS.join(', ')}, not ${text}`);
  return kind;
}

function count(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name}: ${text} is not a count`);
  return number;
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name}: ${text} is not a number of seconds`);
  return number;
}
