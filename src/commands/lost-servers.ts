import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import type { Fault } from '../proxy/ops/fault.ts';
import { type Answer, ofServer } from './ask-all.ts';
import type { Operator } from './operator.ts';

/**
 * Servers that are lost while something is watched: each is told of once, and when it is back. A watch of which no server
 * ever answered ends as a list does, and so does one that all of them refuse.
 */
export class LostServers {
  readonly #operator: Operator;
  readonly #lost = new Map<AdminClient, Fault>();
  #answered = false;

  constructor(operator: Operator) {
    this.#operator = operator;
  }

  /** @throws Fault when it is not worth while to try again */
  lost(client: AdminClient, fault: Fault): void {
    const isNew = !this.#lost.has(client);
    this.#lost.set(client, ofServer(this.#operator, client, fault));
    this.#giveUp();
    if (isNew) this.#tell(client);
  }

  /** Takes note that it answers. @returns whether it was lost */
  answers(client: AdminClient): boolean {
    this.#answered = true;
    return this.#lost.delete(client);
  }

  /**
   * What the servers said, and whether all of them did.
   * @throws Fault when it is not worth while to try again
   */
  take<T>(answers: readonly Answer<T>[]): { readonly values: readonly T[]; readonly complete: boolean } {
    const values: T[] = [];
    const newlyLost: AdminClient[] = [];
    for (const answer of answers) {
      const { client, fault } = answer;
      if (fault === undefined) {
        values.push(answer.value);
        if (this.answers(client)) this.#operator.say(`${client.address} is back`);
      } else {
        if (!this.#lost.has(client)) newlyLost.push(client);
        this.#lost.set(client, ofServer(this.#operator, client, fault));
      }
    }
    this.#giveUp(newlyLost);
    for (const client of newlyLost) this.#tell(client);
    return { values, complete: values.length === answers.length };
  }

  #tell(client: AdminClient): void {
    this.#operator.say(`konnectivity-ts: ${this.#lost.get(client)?.line}; trying again`);
  }

  /** @param untold servers that were not told of yet */
  #giveUp(untold: readonly AdminClient[] = []): void {
    const faults = [...this.#lost.values()];
    if (faults.length < this.#operator.clients.length) return;
    if (this.#answered && faults.some(({ code }) => code === 'admin-unreachable')) return;
    const [last, ...others] = untold.flatMap((client) => this.#lost.get(client) ?? []);
    for (const fault of others) this.#operator.say(`konnectivity-ts: ${fault.line}`);
    throw last ?? faults.at(-1);
  }
}
