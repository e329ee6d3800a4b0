import type { ReadStream, WriteStream } from 'node:tty';
import { adminJson } from '../proxy/admin/model/admin-json.ts';
import { mergeAgents } from '../proxy/admin/model/merge-agents.ts';
import type { Fault } from '../proxy/ops/fault.ts';
import type { AdminFlags } from './admin-flags.ts';
import { type Answer, askAll, askFleet, separate, viewsOf } from './ask-all.ts';
import { ExitCode } from './exit-code.ts';
import type { CommandIo } from './io.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';

export interface TopFlags extends AdminFlags {
  readonly once?: true;
  readonly readOnly?: true;
  readonly output?: 'json';
}

/** Where there is no terminal to say how wide it is. */
const PLAIN_COLUMNS = 120;
/** Servers tell the rates of so many agents at most. */
const MOST_RATES = 500;

/** `konnectivity-ts top`: the screen, or one picture where there is no terminal for it. @returns the exit code */
export function top(flags: TopFlags, io: CommandIo, tools?: OperatorTools): Promise<ExitCode> {
  return operate(
    flags,
    io,
    (operator) => (isPlain(flags, io) ? plain(operator, flags) : screen(operator, flags)),
    tools,
  );
}

function isPlain({ once, output }: TopFlags, { env, stdin, stdout }: CommandIo): boolean {
  if (once || output !== undefined || env.TERM === undefined || env.TERM === '' || env.TERM === 'dumb')
    return true;
  return !isTty(stdin) || !isTty(stdout);
}

async function screen(operator: Operator, flags: TopFlags): Promise<ExitCode> {
  const { io, clients } = operator;
  // Loaded while the servers are asked.
  const loading = Promise.all([
    import('../tui/run-top.ts'),
    import('../tui/paint/paint.ts'),
    import('../tui/badge.ts'),
  ]);
  // Before the screen is taken: when nobody answers, one line on stderr says more than a picture of nothing.
  const answers = await askAll(operator, (client, signal) => client.server(signal));
  const refusals = answers.flatMap(({ fault }) => fault ?? []);
  if (refusals.length === answers.length) throw refusals[0] as Fault;
  const [{ runTop }, { colourLevel }, { glyphsFor }] = await loading;
  const end = await runTop({
    clients,
    input: io.stdin as ReadStream,
    output: io.stdout as WriteStream,
    glyphs: glyphsFor(io.env),
    colours: colourLevel(io.env),
    readOnly: flags.readOnly ?? false,
    signal: operator.stopped,
  });
  if (end === 'hung-up') return ExitCode.hungUp;
  return io.interrupted.aborted ? ExitCode.interrupted : ExitCode.done;
}

async function plain(operator: Operator, { output }: TopFlags): Promise<ExitCode> {
  const answers = await askFleet(operator);
  const { values, lost } = separate(operator, answers);
  const exit = lost.length > 0 ? ExitCode.partial : ExitCode.done;
  if (output === 'json') {
    const servers = values.map(({ server }) => server);
    operator.print(`${adminJson({ servers, agents: mergeAgents(viewsOf(answers)) }, 2)}\n`);
    return exit;
  }
  const [{ plainPicture }, { glyphsFor }] = await Promise.all([
    import('../tui/plain-picture.ts'),
    import('../tui/badge.ts'),
  ]);
  const { env, stdout } = operator.io;
  const looks = await Promise.all(answers.map((answer) => withRates(operator, answer)));
  operator.print(
    plainPicture(looks, {
      columns: (stdout as Partial<WriteStream>).columns ?? readColumns(env.COLUMNS),
      nowMs: operator.clock.wallMs(),
      glyphs: glyphsFor(env),
    }),
  );
  return exit;
}

type FleetAnswer = Awaited<ReturnType<typeof askFleet>>[number];

/** The same agents with their rates, where they can be had. */
async function withRates(operator: Operator, answer: FleetAnswer) {
  const { client } = answer;
  const { address } = client;
  if (answer.fault !== undefined) return { address, reason: answer.fault.line };
  const { server: info, agents } = answer.value;
  const ratesFor = agents.slice(0, MOST_RATES).map(({ id }) => id);
  const [again] = (await askAll(operator, (one, signal) => one.agents({ ratesFor }, signal), [client])) as [
    Answer<typeof agents>,
  ];
  return { address, info, agents: again.fault === undefined ? again.value : agents };
}

function readColumns(text: string | undefined): number {
  const columns = Number(text);
  return Number.isInteger(columns) && columns >= 40 && columns <= 1_000 ? columns : PLAIN_COLUMNS;
}

function isTty(stream: unknown): boolean {
  return (stream as { readonly isTTY?: boolean }).isTTY === true;
}
