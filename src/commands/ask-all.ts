import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import type { Agent } from '../proxy/admin/model/agent.ts';
import type { ServerView } from '../proxy/admin/model/merge-agents.ts';
import type { ServerInfo } from '../proxy/admin/model/server-info.ts';
import { Fault } from '../proxy/ops/fault.ts';
import type { Operator } from './operator.ts';

/** What one of the servers answered, or why it did not. */
export type Answer<T> =
  | { readonly client: AdminClient; readonly value: T; readonly fault?: undefined }
  | { readonly client: AdminClient; readonly fault: Fault };

/** Asks several servers at once; each has its own time to answer. @throws the signal's reason */
export async function askAll<T>(
  operator: Operator,
  ask: (client: AdminClient, signal: AbortSignal) => Promise<T>,
  clients: readonly AdminClient[] = operator.clients,
): Promise<Answer<T>[]> {
  return await Promise.all(clients.map((client) => askOne(operator, client, ask)));
}

/**
 * The fault with the server that it is about, where several are asked and it does not say it itself.
 * @param name what the server is called; its address when left out
 */
export function ofServer(
  { clients }: Pick<Operator, 'clients'>,
  { address }: AdminClient,
  fault: Fault,
  name = address,
): Fault {
  if (clients.length < 2 || fault.message.includes(address)) return fault;
  return new Fault(fault.code, `${name}: ${fault.message}`, fault.remedy, fault);
}

/** A server that took longer than it may. */
export function silentServer({ address }: AdminClient, answerMs: number, cause?: unknown): Fault {
  const what = `${address} did not answer within ${answerMs / 1_000} s`;
  return new Fault('admin-unreachable', what, 'see whether it is alive', cause);
}

export async function askOne<T>(
  operator: Operator,
  client: AdminClient,
  ask: (client: AdminClient, signal: AbortSignal) => Promise<T>,
): Promise<Answer<T>> {
  const { stopped, times } = operator;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), times.answerMs);
  try {
    const value = await ask(client, AbortSignal.any([stopped, late.signal]));
    // A stream ends with its signal, as if it had been whole.
    late.signal.throwIfAborted();
    return { client, value };
  } catch (error) {
    stopped.throwIfAborted();
    if (late.signal.aborted) return { client, fault: silentServer(client, times.answerMs, error) };
    if (error instanceof Fault) return { client, fault: error };
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

export interface Answers<T> {
  readonly values: readonly T[];
  readonly lost: readonly Fault[];
}

/** What the servers said, for a list: those that did not answer are named. @throws Fault when none did */
export function separate<T>(operator: Operator, answers: readonly Answer<T>[]): Answers<T> {
  const values = answers.flatMap((answer) => (answer.fault === undefined ? [answer.value] : []));
  const lost = lostOf(operator, answers);
  const [first] = lost;
  if (values.length === 0 && first !== undefined) {
    for (const fault of lost.slice(1)) operator.say(`konnectivity-ts: ${fault.line}`);
    throw first;
  }
  if (lost.length > 0) {
    operator.say(`konnectivity-ts: ${values.length} of ${answers.length} servers answered`);
    for (const fault of lost) operator.say(`konnectivity-ts: ${fault.line}`);
  }
  return { values, lost };
}

/** Why servers did not answer, each with its server. */
export function lostOf(operator: Pick<Operator, 'clients'>, answers: readonly Answer<unknown>[]): Fault[] {
  return answers.flatMap(({ client, fault }) =>
    fault === undefined ? [] : [ofServer(operator, client, fault)],
  );
}

/** A server and its agents, as it sees them. */
export interface FleetAnswer {
  readonly client: AdminClient;
  readonly server: ServerInfo;
  readonly agents: readonly Agent[];
}

/** Asks all servers who they are and which agents they have. */
export function askFleet(operator: Operator): Promise<Answer<FleetAnswer>[]> {
  return askAll(operator, async (client, signal) => {
    const [server, agents] = await Promise.all([client.server(signal), client.agents({}, signal)]);
    return { client, server, agents };
  });
}

export function viewsOf(answers: readonly Answer<FleetAnswer>[]): ServerView[] {
  return answers.map((answer) => {
    if (answer.fault !== undefined) return {};
    const { server, agents } = answer.value;
    return { serverId: server.id, serverCount: server.serverCount, agents };
  });
}
