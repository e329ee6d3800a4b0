import type { CleanUp } from '../clean-up.ts';
import { type ClientTlsFiles, DESTINATION_HOSTS } from '../messages.ts';
import { WorkerProcess } from '../worker-process.ts';
import type { FleetOrder } from './agents.ts';

/**
 * So many serve all destination addresses. However large the fleet, the load goes over their connections: otherwise more
 * agents were more connections with less on each, which is dearer by itself.
 */
const SERVING = 10;
const GROW_TIMEOUT_MS = 300_000;

/** Simulated agents, spread over processes of their own. */
export class SimulatedFleet {
  readonly #drivers: readonly WorkerProcess[];

  constructor(drivers: number, cleanUp: CleanUp) {
    this.#drivers = Array.from({ length: drivers }, () => new WorkerProcess('scale/agents.ts', cleanUp));
  }

  get pids(): number[] {
    return this.#drivers.map(({ pid }) => pid);
  }

  /** Resolves when so many are connected. @throws Error when the server refuses one */
  async grow(agents: number, port: number, tls: ClientTlsFiles, announces: boolean): Promise<void> {
    const each = this.#drivers.map((driver, i) => {
      const count = Math.floor((agents + this.#drivers.length - 1 - i) / this.#drivers.length);
      const own = SERVING / this.#drivers.length;
      const hosts = Array.from({ length: own }, (_, agent) =>
        DESTINATION_HOSTS.filter((_, host) => host % SERVING === i * own + agent),
      );
      const order: FleetOrder = { port, tls, count, prefix: `node-${i}`, announces, hosts };
      return driver.call('grow', order, GROW_TIMEOUT_MS);
    });
    await Promise.all(each);
  }

  async change(perSecond: number): Promise<void> {
    for (const driver of this.#drivers) await driver.call('change', perSecond / this.#drivers.length);
  }

  /** @throws Error when an agent was lost */
  async check(): Promise<void> {
    for (const driver of this.#drivers) await driver.call('check');
  }

  async leave(): Promise<void> {
    for (const driver of this.#drivers) await driver.call('leave');
  }
}
