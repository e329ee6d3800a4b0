import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import { type Agent, IN_DOUBT } from '../../proxy/admin/model/agent.ts';
import { mergeAgents } from '../../proxy/admin/model/merge-agents.ts';
import type { Order } from '../../proxy/admin/model/order.ts';
import { AgentsWatch, type WatchedServer, type WatchNews } from '../agents-watch.ts';
import { ofServer } from '../ask-all.ts';
import { Bell } from '../bell.ts';
import { ExitCode } from '../exit-code.ts';
import { formatDuration } from '../flags/go-duration.ts';
import type { Operator } from '../operator.ts';
import { type CutCount, type CutTunnels, NONE_CUT } from './cut-tunnels.ts';
import { type DrainEnd, drainEnd, exitOfEnd } from './drain-end.ts';
import type { DrainPlan } from './drain-flags.ts';
import { DrainReport } from './drain-report.ts';
import { PlaceAgain } from './place-again.ts';
import { Progress } from './progress.ts';
import { closeQuiet } from './quiet-tunnels.ts';

export interface WaitFor {
  /** As they were when they were told to drain. */
  readonly agents: readonly Agent[];
  readonly orders: ReadonlyMap<string, Order>;
  /** Begun before the agents were told: one may go at once. */
  readonly cuts: ReadonlyMap<string, CutTunnels>;
  /** Servers that could not be told yet (--allow-partial). */
  readonly untold: readonly { readonly client: AdminClient; readonly ids: readonly string[] }[];
}

/** Waits for one agent. */
class Waiting {
  readonly id: string;
  readonly cut: CutTunnels | undefined;
  readonly instance: string | undefined;
  order: Order | undefined;
  last: Agent | undefined;
  sawOrder = false;
  sawLiving: boolean;
  leftAtMs: number | undefined;
  drainedAtMs: number | undefined;
  code: ExitCode | undefined;
  /** Its tunnels at each server, as it was seen there last. */
  readonly #here = new Map<WatchedServer, number>();

  constructor(agent: Agent, { orders, cuts }: WaitFor) {
    this.id = agent.id;
    this.instance = agent.instance;
    this.order = orders.get(agent.id);
    this.sawLiving = agent.state !== 'gone';
    this.cut = cuts.get(agent.id);
    if (this.sawLiving) this.last = agent;
  }

  /** Of its tunnels when it was seen last, those at servers that were not asked: nobody says how they ended. */
  elsewhere(servers: readonly WatchedServer[]): number {
    const { last } = this;
    const isAsked = (id: string): boolean => servers.some(({ serverId }) => serverId === id);
    if (last === undefined || last.serverIds.every(isAsked)) return 0;
    const here = [...this.#here.values()].reduce((sum, tunnels) => sum + tunnels, 0);
    return Math.max(0, last.tunnels - here);
  }

  /** @param agent what it is over all servers, which do not lose it at the same instant */
  see(agent: Agent | undefined, servers: readonly WatchedServer[]): void {
    for (const server of servers) {
      const seen = server.agents.get(this.id);
      if (seen !== undefined && seen.state !== 'gone') this.#here.set(server, seen.tunnelsHere);
    }
    if (agent === undefined) return;
    if (agent.order !== undefined) {
      this.order = agent.order;
      this.sawOrder = true;
    }
    if (agent.state === 'gone') return;
    this.sawLiving = true;
    this.last = agent;
  }
}

/**
 * Waits until all the agents are drained, have left, or the time is over; tells how it goes.
 * @returns an exit code for each agent
 */
export async function waitDrained(operator: Operator, plan: DrainPlan, wait: WaitFor): Promise<ExitCode[]> {
  const { clock, times, stopped } = operator;
  const ids = wait.agents.map((agent) => agent.id);
  const waiting = wait.agents.map((agent) => new Waiting(agent, wait));
  const bell = new Bell();
  const again = new PlaceAgain(operator);
  const report = new DrainReport(operator, plan.json);
  const progress = new Progress(operator);
  for (const { client, ids: missing } of wait.untold) again.add(client, missing, client.address);
  const onNews = (news: WatchNews): void => {
    if (news.kind === 'lost') {
      const { line } = ofServer(operator, news.client, news.fault);
      operator.say(`konnectivity-ts: ${line}; trying again`);
    }
    if (news.kind === 'back') operator.say(`${news.client.address} is back`);
    if (news.kind === 'restarted') {
      operator.say(`${news.serverId} was restarted`);
      if (!plan.monitor) again.add(news.client, ids, news.serverId);
    }
    bell.ring();
  };
  const endMs = plan.timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.monoMs() + plan.timeoutMs;
  const done = new AbortController();
  const watch = new AgentsWatch(operator, { ids, signal: AbortSignal.any([stopped, done.signal]), onNews });
  try {
    let quietAtMs = Number.NEGATIVE_INFINITY;
    for (;;) {
      const left = waiting.filter((one) => one.code === undefined);
      if (left.length === 0) break;
      const nowMs = clock.monoMs();
      if (nowMs >= endMs) {
        for (const one of left) giveUp(operator, report, one, plan.timeoutMs ?? 0);
        break;
      }
      await bell.wait(clock, Math.min(times.retryMs, endMs - nowMs), stopped);
      stopped.throwIfAborted();
      // Until then it is a picture of some of them.
      if (!watch.servers.every(({ answers, fault }) => answers || fault !== undefined)) continue;
      const agents = new Map(mergeAgents(watch.views).map((agent) => [agent.id, agent]));
      const answering = watch.servers.filter((server) => server.answers).length;
      for (const one of left) one.see(agents.get(one.id), watch.servers);
      const told = await again.tell(
        watch.servers,
        new Map(left.flatMap((one) => (one.order ? [[one.id, one.order]] : []))),
      );
      // What was seen before says nothing of an order that was placed since.
      for (const one of left) if (told.has(one.id)) one.sawOrder = false;
      for (const one of left) {
        const agent = agents.get(one.id);
        const sight = { agent, answering, named: watch.servers.length, untold: again.untold(one.id) };
        const end = drainEnd(sight, { ...memoryOf(one), allowPartial: plan.allowPartial });
        if (end !== undefined) await finish(operator, report, one, end, watch.servers);
        else if (agent !== undefined && answering > 0) {
          one.leftAtMs = undefined;
          one.drainedAtMs = undefined;
          report.change(agent);
          if (!plan.json) await progress.tell(agent);
        }
      }
      if (plan.closeQuietMs !== undefined && clock.monoMs() - quietAtMs >= times.pollMs) {
        quietAtMs = clock.monoMs();
        for (const one of left)
          if (one.code === undefined) await closeQuiet(operator, one.id, plan.closeQuietMs);
      }
    }
  } catch (error) {
    if (!stopped.aborted) throw error;
    for (const one of waiting) if (one.code === undefined) interrupted(operator, report, one);
  } finally {
    done.abort();
    await watch.ended;
  }
  return waiting.map((one) => one.code ?? ExitCode.interrupted);
}

function memoryOf({ instance, sawOrder, sawLiving }: Waiting) {
  return { instance, sawOrder, sawLiving };
}

/** Takes an end for good; an agent that lost tunnels with its stream may still come back for a moment. */
async function finish(
  operator: Operator,
  report: DrainReport,
  one: Waiting,
  end: DrainEnd,
  servers: readonly WatchedServer[],
): Promise<void> {
  const { clock, times } = operator;
  if (end.kind === 'drained' && mayStillBeSafe(end.agent)) {
    one.drainedAtMs ??= clock.monoMs();
    if (clock.monoMs() - one.drainedAtMs < times.settleMs) return;
  }
  let count: CutCount = (await one.cut?.count()) ?? NONE_CUT;
  if (end.kind === 'left') {
    const broken = Math.min(count.brokenLast, one.last?.tunnels ?? 0);
    count = { ...count, lost: count.lost + one.elsewhere(servers), stopped: count.stopped + broken };
    const cut = count.lost + count.atDeadline + count.stopped;
    one.leftAtMs ??= clock.monoMs();
    if (cut > 0 && clock.monoMs() - one.leftAtMs < times.goneMs) return;
  }
  const cut = end.kind === 'left' ? count.lost + count.atDeadline + count.stopped : count.lost;
  one.code = exitOfEnd(end, cut);
  report.end(one.id, one.last, end, count, one.code);
  if (end.kind === 'undrained') operator.say(`drain it anew: ${operator.command('drain', one.id)}`);
}

/** Drained, and nothing but the word of some servers is missing: it travels through the agent. */
function mayStillBeSafe({ kind, safeToStop, lastFor, conditions }: Agent): boolean {
  if (kind === 'go' || safeToStop || lastFor.length > 0) return false;
  return !IN_DOUBT.some((condition) => condition !== 'partial' && conditions.includes(condition));
}

function giveUp(operator: Operator, report: DrainReport, one: Waiting, timeoutMs: number): void {
  one.code = ExitCode.stillDraining;
  report.still(one.id, one.last, `still draining after ${formatDuration(timeoutMs)}`, one.code);
  sayNext(operator, one.id);
}

function interrupted(operator: Operator, report: DrainReport, one: Waiting): void {
  one.code = ExitCode.interrupted;
  report.still(one.id, one.last, 'no longer watched, and still draining', one.code);
  sayNext(operator, one.id);
}

function sayNext(operator: Operator, id: string): void {
  operator.say(`watch it again: ${operator.command('drain', id, '--monitor')}`);
  operator.say(`undo it: ${operator.command('undrain', id)}`);
}
