import { adminJson } from '../proxy/admin/model/admin-json.ts';
import { sinceText } from '../proxy/admin/model/amounts.ts';
import type { Order } from '../proxy/admin/model/order.ts';
import { oneLine } from '../proxy/ops/fault.ts';
import type { AdminFlags, OutputFlag } from './admin-flags.ts';
import { actorText, deadlineText } from './agent-rows.ts';
import { type Answer, askAll, separate } from './ask-all.ts';
import { ExitCode } from './exit-code.ts';
import type { TableFit } from './fit-table.ts';
import type { CommandIo } from './io.ts';
import { LostServers } from './lost-servers.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';
import { RowWatch } from './row-watch.ts';
import { formatTable } from './table.ts';

export interface DrainsFlags extends AdminFlags {
  readonly output?: OutputFlag;
  readonly watch?: true;
}

/** `konnectivity-ts drains`: the orders in force. @returns the exit code */
export function drains(flags: DrainsFlags, io: CommandIo, tools?: OperatorTools): Promise<ExitCode> {
  return operate(
    flags,
    io,
    (operator) => (flags.watch ? watch(operator, flags) : list(operator, flags)),
    tools,
  );
}

/** What a narrow terminal does without. */
const GIVES_WAY: Pick<TableFit, 'shorten' | 'drop'> = {
  shorten: [
    ['REASON', 16],
    ['BY', 12],
    ['DEADLINE', 14],
    ['REASON', 8],
    ['BY', 6],
  ],
  drop: ['ORDER', 'UNTIL', 'BY'],
};

interface Listed {
  readonly orders: readonly Order[];
  readonly code: ExitCode;
}

function askOrders(operator: Operator): Promise<Answer<readonly Order[]>[]> {
  return askAll(operator, (client, signal) => client.orders(signal));
}

async function ask(operator: Operator): Promise<Listed> {
  const { values, lost } = separate(operator, await askOrders(operator));
  return { orders: mergeOrders(values.flat()), code: lost.length > 0 ? ExitCode.partial : ExitCode.done };
}

/** One for each order ID: the newest version; a server that stores it knows more than one that heard of it. */
export function mergeOrders(orders: readonly Order[]): Order[] {
  const byId = new Map<string, Order>();
  for (const order of orders) {
    const key = `${order.agentId}\0${order.id}`;
    const known = byId.get(key);
    const better =
      known === undefined ||
      order.version > known.version ||
      (order.version === known.version && known.relayed && !order.relayed);
    if (better) byId.set(key, order);
  }
  return [...byId.values()].sort(
    (a, b) => a.since.getTime() - b.since.getTime() || (a.agentId < b.agentId ? -1 : 1),
  );
}

async function list(operator: Operator, flags: DrainsFlags): Promise<ExitCode> {
  const { orders, code } = await ask(operator);
  if (flags.output === 'json') operator.print(`${adminJson(orders, 2)}\n`);
  else if (flags.output === 'name')
    operator.print(orders.map((order) => `${oneLine(order.agentId)}\n`).join(''));
  else {
    const wide = flags.output === 'wide';
    const nowMs = operator.clock.wallMs();
    operator.print(
      formatTable(
        head(wide),
        orders.map((order) => row(order, wide, nowMs)),
        wide ? undefined : operator.fit(GIVES_WAY),
      ),
    );
    if (orders.length === 0) operator.say('no agent is under a drain order');
  }
  return code;
}

async function watch(operator: Operator, flags: DrainsFlags): Promise<ExitCode> {
  const wide = flags.output === 'wide';
  const rows = new RowWatch(head(wide), 'ended', wide ? undefined : operator.fit(GIVES_WAY));
  const names = new Set<string>();
  const { stopped, clock, times, io } = operator;
  const servers = new LostServers(operator);
  let last = '';
  while (!stopped.aborted) {
    try {
      const { values, complete } = servers.take(await askOrders(operator));
      const orders = mergeOrders(values.flat());
      if (values.length === 0) {
        await clock.wait(times.pollMs, stopped);
        continue;
      }
      const nowMs = clock.wallMs();
      if (flags.output === 'json') {
        const json = adminJson(orders);
        if (json !== last) operator.print(`${json}\n`);
        last = json;
      } else if (flags.output === 'name') {
        for (const { agentId } of orders) if (!names.has(agentId)) operator.print(`${oneLine(agentId)}\n`);
        for (const { agentId } of orders) names.add(agentId);
      } else {
        operator.print(
          rows.next(
            orders.map((order) => ({
              id: `${order.agentId}\0${order.id}`,
              goneText: `${order.id} ended`,
              cells: row(order, wide, nowMs),
              key: JSON.stringify([order.version, order.overdue, order.acknowledged]),
            })),
            complete,
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

function head(wide: boolean): string[] {
  const names = ['AGENT', 'ORDER', 'AGE', 'BY', 'REASON', 'DEADLINE', 'UNTIL', 'CONDITION'];
  return wide ? [...names, 'VERSION', 'KEPT'] : names;
}

function row(order: Order, wide: boolean, nowMs: number): string[] {
  const cells = [
    order.agentId,
    order.id,
    sinceText(order.since, nowMs),
    actorText(order),
    order.reason || '-',
    deadlineText(order, nowMs),
    order.until,
    order.overdue ? 'overdue' : order.acknowledged ? '-' : 'not acknowledged',
  ];
  if (wide) cells.push(String(order.version), order.relayed ? 'by the agent' : 'by the server');
  return cells;
}
