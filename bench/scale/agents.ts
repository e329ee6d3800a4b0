import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ClientTlsFiles } from '../messages.ts';
import { answerCalls } from '../worker.ts';
import { SimulatedAgent } from './simulated-agent.ts';

/** A process that is many agents. */

export interface FleetOrder {
  readonly port: number;
  readonly tls: ClientTlsFiles;
  /** How many there are to be in this process. */
  readonly count: number;
  /** Of their IDs. */
  readonly prefix: string;
  readonly announces: boolean;
  /** Addresses that the first of them serve, by agent. */
  readonly hosts: readonly (readonly string[])[];
}

const AT_ONCE = 8;

const agents = new Set<SimulatedAgent>();
let fault: string | undefined;
let changing: NodeJS.Timeout | undefined;

async function connectOne(
  { port, prefix, announces, hosts }: FleetOrder,
  secureContext: ReturnType<typeof createSecureContext>,
): Promise<void> {
  const id = `${prefix}-${String(agents.size).padStart(5, '0')}`;
  const identity = { id, announces, hosts: hosts[agents.size] ?? [] };
  await new Promise<void>((resolve, reject) => {
    const agent = new SimulatedAgent(port, secureContext, identity, resolve, (reason) => {
      if (agents.delete(agent)) fault ??= reason;
      reject(new Error(reason));
    });
    agents.add(agent);
  });
}

answerCalls({
  grow: async (order: FleetOrder): Promise<void> => {
    const { caFile, certFile, keyFile } = order.tls;
    const [ca, cert, key] = [caFile, certFile, keyFile].map((file) => readFileSync(file));
    const secureContext = createSecureContext({ ca, cert, key });
    const connect = async (): Promise<void> => {
      while (agents.size < order.count) await connectOne(order, secureContext);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, connect));
  },
  /** From now on so many agents in a second say that something changed; 0 ends it. */
  change: (perSecond: number): void => {
    clearInterval(changing);
    if (perSecond === 0) return;
    const all = [...agents];
    let said = 0;
    changing = setInterval(() => all[said % all.length]?.tell(said++ % 97), 1000 / perSecond);
  },
  /** @throws Error when one of them was lost */
  check: (): void => {
    if (fault !== undefined) throw new Error(`an agent was lost: ${fault}`);
  },
  leave: (): void => {
    clearInterval(changing);
    const all = [...agents];
    agents.clear();
    for (const agent of all) agent.destroy();
    fault = undefined;
  },
});
