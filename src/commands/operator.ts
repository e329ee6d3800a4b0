import { hostname, userInfo } from 'node:os';
import { setImmediate as afterEvents } from 'node:timers/promises';
import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import { type Clock, systemClock } from '../proxy/ops/clock.ts';
import { Fault, oneLine } from '../proxy/ops/fault.ts';
import type { AdminFlags } from './admin-flags.ts';
import { adminAddresses, adminPlaces } from './admin-target.ts';
import { ExitCode, exitOf } from './exit-code.ts';
import type { TableFit } from './fit-table.ts';
import type { CommandIo } from './io.ts';
import { onReaderGone } from './pipe-reader.ts';
import { shellWord } from './shell-word.ts';

/** Longer lines are cut: they are made of what servers and agents said. */
const LINE_LIMIT = 2_000;

/** Times of the operator commands, which tests shrink. */
export interface OperatorTimes {
  /** A server that does not answer a request for that long counts as unreachable. */
  readonly answerMs: number;
  /** How often a watched server says what changed. */
  readonly watchIntervalMs: number;
  /** How often lists are asked for again that cannot be watched. */
  readonly pollMs: number;
  /** Before a lost server is tried again. */
  readonly retryMs: number;
  /** Between two lines of progress about one agent. */
  readonly progressMs: number;
  /** Progress without a change. */
  readonly remindMs: number;
  /** An agent that left with tunnels may come back for that long. */
  readonly goneMs: number;
  /** A drained agent is waited for so long to carry what its other servers say of who takes over. */
  readonly settleMs: number;
}

export const defaultOperatorTimes: OperatorTimes = {
  answerMs: 5_000,
  watchIntervalMs: 500,
  pollMs: 2_000,
  retryMs: 1_000,
  progressMs: 2_000,
  remindMs: 60_000,
  goneMs: 3_000,
  settleMs: 1_000,
};

/** What operator commands need of the outside besides io. */
export interface OperatorTools {
  readonly clock: Clock;
  readonly times: OperatorTimes;
  /** The servers to ask. @throws Fault */
  addresses(flags: AdminFlags, io: CommandIo): Promise<readonly string[]>;
  /** @throws Fault for an address or files that cannot work */
  connect(address: string, flags: AdminFlags, actor: string): Promise<AdminClient>;
}

const operatorTools: OperatorTools = {
  clock: systemClock,
  times: defaultOperatorTimes,
  addresses: (flags, io) => adminAddresses(flags, adminPlaces(io.env)),
  connect: async (address, { adminCert, adminKey, adminCaCert }, actor) => {
    const { openAdminClient } = await import('../proxy/admin/client/open-admin-client.ts');
    return openAdminClient(address, {
      ...(adminCert === undefined ? {} : { certFile: adminCert }),
      ...(adminKey === undefined ? {} : { keyFile: adminKey }),
      ...(adminCaCert === undefined ? {} : { caFile: adminCaCert }),
      actor,
    });
  },
};

/** One operator command under way. */
export interface Operator {
  readonly io: CommandIo;
  readonly clients: readonly AdminClient[];
  readonly clock: Clock;
  readonly times: OperatorTimes;
  /** The command was interrupted, or (where it only shows something) nobody reads its output any more. */
  readonly stopped: AbortSignal;
  /** Both ends of a conversation are a terminal. */
  readonly isTerminal: boolean;
  /** Where stdout is a terminal: how a table becomes as narrow as it is. Elsewhere tables are whole. */
  fit(givesWay: Pick<TableFit, 'shorten' | 'drop'>): TableFit | undefined;
  /** Data, on stdout, with its line ends. */
  print(text: string): void;
  /** Talk, on stderr: one line, or each of several. */
  say(text: string): void;
  /** A command that the reader may type next, for the same servers. */
  command(...words: string[]): string;
}

/**
 * Runs an operator command: finds and opens its servers, closes them, and tells what is thrown in one line.
 * @param options.endsWithReader false for a command that does more than showing: it goes on when nobody reads
 * @param options.check throws a Fault for arguments that make no sense, before any server is looked for
 * @returns the exit code
 */
export async function operate(
  flags: AdminFlags,
  io: CommandIo,
  run: (operator: Operator) => Promise<ExitCode>,
  tools: OperatorTools = operatorTools,
  { endsWithReader = true, check }: { readonly endsWithReader?: boolean; check?(): void } = {},
): Promise<ExitCode> {
  const readerGone = new AbortController();
  let lost: NodeJS.ErrnoException | undefined;
  io.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Who reads us may leave (| head): that is no error, and nothing to talk about. A full disk is one.
    if (error.code !== 'EPIPE') lost ??= error;
    readerGone.abort();
  });
  io.stderr.on('error', () => {});
  const endReaderWatch = endsWithReader ? onReaderGone(io.stdout, () => readerGone.abort()) : () => {};
  const clients: AdminClient[] = [];
  const stopped = endsWithReader ? AbortSignal.any([io.interrupted, readerGone.signal]) : io.interrupted;
  const say = (text: string): void => {
    for (const line of text.split('\n')) io.stderr.write(`${oneLine(line, LINE_LIMIT)}\n`);
  };
  const outcome = async (): Promise<ExitCode> => {
    try {
      check?.();
      for (const address of await tools.addresses(flags, io)) {
        clients.push(await tools.connect(address, flags, actorOf(io.env)));
      }
      return await run({
        io,
        clients,
        clock: tools.clock,
        times: tools.times,
        stopped,
        isTerminal: isTty(io.stdin) && isTty(io.stderr),
        fit: (givesWay) => fitOf(io, givesWay),
        print: (text) => void (readerGone.signal.aborted || io.stdout.write(text)),
        say,
        command: (...words) => commandLine(words, flags),
      });
    } catch (error) {
      if (io.interrupted.aborted) return ExitCode.interrupted;
      if (endsWithReader && readerGone.signal.aborted) return ExitCode.done;
      if (!(error instanceof Fault)) throw error;
      say(`konnectivity-ts: ${error.line}`);
      return exitOf(error);
    } finally {
      for (const client of clients) client.close();
      endReaderWatch();
    }
  };
  const code = await outcome();
  // A write that failed is told after it.
  await afterEvents();
  if (lost === undefined) return code;
  say(`konnectivity-ts: ${outputLost(lost).line}`);
  // What a command did counts for more than that nobody could write down what it said.
  return endsWithReader ? ExitCode.failed : code;
}

function outputLost(error: NodeJS.ErrnoException): Fault {
  return new Fault(
    'output-unwritable',
    `the output cannot be written: ${error.code ?? error.message}`,
    'make room where it goes, or send it elsewhere',
    error,
  );
}

/** user@host, as servers note it for those who come by their Unix socket. */
function actorOf(env: CommandIo['env']): string {
  let user: string | undefined;
  try {
    user = userInfo().username;
  } catch {
    // Nobody in the user database, as in many containers.
    user = env.USER ?? `uid ${process.getuid?.() ?? '?'}`;
  }
  const asRoot = user === 'root' && env.SUDO_USER !== undefined && env.SUDO_USER !== '';
  return `${asRoot ? env.SUDO_USER : user}@${hostname()}`;
}

function commandLine(words: readonly string[], flags: AdminFlags): string {
  const all = ['konnectivity-ts', ...words];
  if (flags.admin !== undefined) all.push('--admin', flags.admin);
  if (flags.adminCert !== undefined) all.push('--admin-cert', flags.adminCert);
  if (flags.adminKey !== undefined) all.push('--admin-key', flags.adminKey);
  if (flags.adminCaCert !== undefined) all.push('--admin-ca-cert', flags.adminCaCert);
  return all.map(shellWord).join(' ');
}

function fitOf(io: CommandIo, givesWay: Pick<TableFit, 'shorten' | 'drop'>): TableFit | undefined {
  const { columns } = io.stdout as { readonly columns?: number };
  // A terminal that does not know its size says 0.
  if (!isTty(io.stdout) || columns === undefined || columns <= 0) return undefined;
  const { LC_ALL, LC_CTYPE, LANG } = io.env;
  const isUtf8 = /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
  return { ...givesWay, columns, mark: isUtf8 ? '…' : '~' };
}

function isTty(stream: unknown): boolean {
  return (stream as { readonly isTTY?: boolean }).isTTY === true;
}
