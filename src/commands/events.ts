import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import { adminJson } from '../proxy/admin/model/admin-json.ts';
import { countText } from '../proxy/admin/model/amounts.ts';
import type { AdminEvent, EventsRequest } from '../proxy/admin/model/event.ts';
import { Fault, oneLine } from '../proxy/ops/fault.ts';
import type { AdminFlags } from './admin-flags.ts';
import { askAll, askOne, separate } from './ask-all.ts';
import { durationFlag } from './durations.ts';
import { ExitCode } from './exit-code.ts';
import { filterFlag } from './filter-flag.ts';
import type { CommandIo } from './io.ts';
import { LostServers } from './lost-servers.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';

export interface EventsFlags extends AdminFlags {
  readonly since?: string;
  readonly follow?: true;
  readonly agent?: string;
  readonly output?: 'json';
}

/** `konnectivity-ts events`: what happened at the servers. @returns the exit code */
export function events(flags: EventsFlags, io: CommandIo, tools?: OperatorTools): Promise<ExitCode> {
  return operate(
    flags,
    io,
    async (operator) => {
      const sinceMs = durationFlag('--since', flags.since);
      const ofAgent = filterFlag('agent', flags.agent);
      // Without --since a follower begins now, and everybody else gets all that is remembered.
      const since =
        sinceMs === undefined
          ? flags.follow
            ? undefined
            : new Date(0)
          : new Date(operator.clock.wallMs() - sinceMs);
      const past = since === undefined ? {} : { since };
      return flags.follow
        ? await follow(operator, flags, { ...past, ...ofAgent, follow: true })
        : await list(operator, flags, { ...past, ...ofAgent, follow: false });
    },
    tools,
  );
}

async function list(operator: Operator, flags: EventsFlags, request: EventsRequest): Promise<ExitCode> {
  const { values, lost } = separate(
    operator,
    await askAll(operator, async (client, signal) => {
      const all: AdminEvent[] = [];
      for await (const event of client.events(request, signal)) all.push(event);
      return all;
    }),
  );
  const all = values.flat().sort((a, b) => a.time.getTime() - b.time.getTime());
  for (const event of all) show(operator, flags, event);
  if (all.length === 0) operator.say('nothing is remembered');
  return lost.length > 0 ? ExitCode.partial : ExitCode.done;
}

async function follow(operator: Operator, flags: EventsFlags, request: EventsRequest): Promise<ExitCode> {
  const over = new AbortController();
  const watch: Follow = {
    request,
    servers: new LostServers(operator),
    ended: AbortSignal.any([operator.stopped, over.signal]),
  };
  try {
    await Promise.all(operator.clients.map((client) => followOne(operator, client, flags, watch)));
  } finally {
    over.abort();
  }
  return operator.io.interrupted.aborted ? ExitCode.interrupted : ExitCode.done;
}

/** What the followers of several servers share. */
interface Follow {
  readonly request: EventsRequest;
  readonly servers: LostServers;
  readonly ended: AbortSignal;
}

/** Follows one server until the end. After a loss it goes on behind the last event that was shown. */
async function followOne(
  operator: Operator,
  client: AdminClient,
  flags: EventsFlags,
  { request, servers, ended }: Follow,
): Promise<void> {
  const { clock, times } = operator;
  let last: AdminEvent | undefined;
  // After a loss of a server that said nothing yet, what happened meanwhile is not left out.
  let from = request;
  const begun = new Date(clock.wallMs());
  while (!ended.aborted) {
    let fault = new Fault('admin-unreachable', `${client.address} ended the stream of events`);
    try {
      // A stream that nothing comes from is no sign of life.
      const { fault: silent } = await askOne(operator, client, (server, signal) => server.server(signal));
      if (silent !== undefined) throw silent;
      if (servers.answers(client)) operator.say(`${client.address} is back`);
      for await (const event of client.events(from, ended)) {
        if (last !== undefined && event.epoch === last.epoch && event.number <= last.number) continue;
        last = event;
        show(operator, flags, event);
      }
    } catch (error) {
      if (ended.aborted) return;
      if (!(error instanceof Fault)) throw error;
      fault = error;
    }
    if (ended.aborted) return;
    servers.lost(client, fault);
    from = { ...request, since: last?.time ?? request.since ?? begun };
    await clock.wait(times.retryMs, ended);
  }
}

function show(operator: Operator, { output }: EventsFlags, event: AdminEvent): void {
  if (output === 'json') {
    operator.print(`${adminJson(event)}\n`);
    return;
  }
  if (event.missed > 0)
    operator.say(`${countText(event.missed, 'event')} of ${event.serverId} were missed here`);
  const server = operator.clients.length > 1 ? `${event.serverId}  ` : '';
  const actor = event.actor === undefined || event.actor === '' ? '' : `, by ${event.actor}`;
  const time = event.time.toISOString();
  operator.print(
    `${oneLine(`${time}  ${server}${event.type.padEnd(20)}  ${event.message}${actor}`, 2_000)}\n`,
  );
}
