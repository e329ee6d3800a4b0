import { adminJson } from '../proxy/admin/model/admin-json.ts';
import { countText } from '../proxy/admin/model/amounts.ts';
import type { Tunnel, TunnelsRequest } from '../proxy/admin/model/tunnel.ts';
import { Fault, oneLine } from '../proxy/ops/fault.ts';
import type { AdminFlags, OutputFlag } from './admin-flags.ts';
import { type Answer, askAll, separate } from './ask-all.ts';
import { ExitCode } from './exit-code.ts';
import { filterFlag } from './filter-flag.ts';
import type { TableFit } from './fit-table.ts';
import type { CommandIo } from './io.ts';
import { LostServers } from './lost-servers.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';
import { RowWatch } from './row-watch.ts';
import { formatTable } from './table.ts';
import { inOrder, type TunnelsFound, tunnelsUpTo } from './tunnel-pages.ts';
import { TUNNEL_GIVES_WAY, type TunnelTable, tunnelHead, tunnelRow } from './tunnel-rows.ts';

export interface TunnelsFlags extends AdminFlags {
  readonly agent?: string;
  readonly destination?: string;
  readonly paused?: true;
  readonly closed?: true;
  readonly sort?: 'age' | 'buffered' | 'rate';
  readonly limit?: string;
  readonly output?: OutputFlag;
  readonly watch?: true;
}

const DEFAULT_LIMIT = '1000';

/** `konnectivity-ts tunnels`: what runs through the servers, or ran. @returns the exit code */
export function tunnels(flags: TunnelsFlags, io: CommandIo, tools?: OperatorTools): Promise<ExitCode> {
  return operate(
    flags,
    io,
    async (operator) => {
      const request = readRequest(flags);
      const limit = readLimit(flags.limit ?? DEFAULT_LIMIT);
      return flags.watch ? watch(operator, flags, request, limit) : list(operator, flags, request, limit);
    },
    tools,
  );
}

function readRequest(flags: TunnelsFlags): TunnelsRequest {
  if (flags.closed && (flags.paused || flags.sort !== undefined)) {
    const other = flags.paused ? '--paused' : '--sort';
    throw new Fault('flag-conflict', `--closed is given with ${other}`, 'leave one of them out');
  }
  return {
    ...filterFlag('agent', flags.agent),
    ...filterFlag('destination', flags.destination),
    ...(flags.paused ? { pausedOnly: true } : {}),
    ...(flags.closed ? { closed: true } : {}),
    ...(flags.sort === undefined ? {} : { sort: flags.sort }),
  };
}

function readLimit(text: string): number {
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (limit > 0) return limit;
  throw new Fault('flag-value', `--limit ${text} is no number of tunnels`, 'give 1 to 9999999');
}

interface Listed {
  readonly tunnels: readonly Tunnel[];
  readonly total: number;
  readonly code: ExitCode;
}

function askTunnels(
  operator: Operator,
  request: TunnelsRequest,
  limit: number,
): Promise<Answer<TunnelsFound>[]> {
  return askAll(operator, (client, signal) => tunnelsUpTo(client, request, limit, signal));
}

async function ask(operator: Operator, request: TunnelsRequest, limit: number): Promise<Listed> {
  const { values, lost } = separate(operator, await askTunnels(operator, request, limit));
  return {
    tunnels: inOrder(
      values.flatMap((value) => value.tunnels),
      request,
    ).slice(0, limit),
    total: values.reduce((sum, value) => sum + value.total, 0),
    code: lost.length > 0 ? ExitCode.partial : ExitCode.done,
  };
}

async function list(
  operator: Operator,
  flags: TunnelsFlags,
  request: TunnelsRequest,
  limit: number,
): Promise<ExitCode> {
  const { tunnels: found, total, code } = await ask(operator, request, limit);
  const table = tableOf(operator, flags);
  const nowMs = operator.clock.wallMs();
  if (flags.output === 'json') operator.print(`${adminJson(found, 2)}\n`);
  else if (flags.output === 'name') operator.print(found.map(({ id }) => `${oneLine(id)}\n`).join(''));
  else {
    operator.print(
      formatTable(
        tunnelHead(table),
        found.map((tunnel) => tunnelRow(tunnel, table, nowMs)),
        fitOf(operator, table),
      ),
    );
    if (found.length === 0) operator.say(flags.closed ? 'no ended tunnel matches' : 'no tunnel matches');
  }
  if (total > found.length) {
    operator.say(
      `${found.length} of ${countText(total, 'tunnel')} that match; see more with --limit ${total}`,
    );
  }
  return code;
}

/** Tunnels cannot be watched, so they are listed again and again, until somebody stops it. */
async function watch(
  operator: Operator,
  flags: TunnelsFlags,
  request: TunnelsRequest,
  limit: number,
): Promise<ExitCode> {
  const table = tableOf(operator, flags);
  const rows = new RowWatch(tunnelHead(table), 'ended', fitOf(operator, table));
  const names = new Set<string>();
  const { stopped, clock, times, io } = operator;
  const servers = new LostServers(operator);
  while (!stopped.aborted) {
    try {
      const { values, complete } = servers.take(await askTunnels(operator, request, limit));
      if (values.length === 0) {
        await clock.wait(times.pollMs, stopped);
        continue;
      }
      const all = values.flatMap((value) => value.tunnels);
      const found = inOrder(all, request).slice(0, limit);
      const nowMs = clock.wallMs();
      if (flags.output === 'json') operator.print(`${adminJson(found)}\n`);
      else if (flags.output === 'name') {
        for (const { id } of found) {
          if (!names.has(id)) operator.print(`${oneLine(id)}\n`);
          names.add(id);
        }
      } else {
        operator.print(
          rows.next(
            found.map((tunnel) => ({
              id: `${tunnel.serverId} ${tunnel.id}`,
              ...(table.several ? { goneText: `ended (${tunnel.serverId})` } : {}),
              cells: tunnelRow(tunnel, table, nowMs),
              key: rowKey(tunnel),
            })),
            // Those beyond the limit have not ended either.
            complete && found.length === all.length && all.length < limit,
          ),
        );
      }
    } catch (error) {
      if (stopped.aborted) break;
      throw error;
    }
    await clock.wait(times.pollMs, stopped);
  }
  return io.interrupted.aborted ? ExitCode.interrupted : ExitCode.done;
}

/** A tunnel is shown again when its bytes moved, or its reader stopped. */
function rowKey({ bytesFromNode, bytesToNode, bufferedBytes, pausedSeconds }: Tunnel): string {
  return [bytesFromNode, bytesToNode, bufferedBytes, pausedSeconds !== undefined].join(' ');
}

function fitOf(operator: Operator, { wide }: TunnelTable): TableFit | undefined {
  return wide ? undefined : operator.fit(TUNNEL_GIVES_WAY);
}

function tableOf(operator: Operator, flags: TunnelsFlags): TunnelTable {
  return {
    wide: flags.output === 'wide',
    closed: flags.closed === true,
    several: operator.clients.length > 1,
  };
}
