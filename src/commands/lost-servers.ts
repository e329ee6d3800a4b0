import type { AdminClient } from '../proxy/admin/client/admin-client.ts';
import type { Answer } from './ask-all.ts';
import type { Operator } from './operator.ts';

/** Servers that do not answer while lists are asked for again and again: each is told of once, and when it is back. */
export class LostServers {
  readonly #operator: Operator;
  readonly #lost = new Set<AdminClient>();

  constructor(operator: Operator) {
    this.#operator = operator;
  }

  /**
   * What the servers said, and whether all of them did.
   * @throws Fault when none did, for a reason that trying again does not change
   */
  take<T>(answers: readonly Answer<T>[]): { readonly values: readonly T[]; readonly complete: boolean } {
    const values: T[] = [];
    const refusals = answers.flatMap(({ fault }) =>
      fault === undefined || fault.code === 'admin-unreachable' ? [] : [fault],
    );
    if (refusals[0] !== undefined && refusals.length === answers.length) throw refusals[0];
    for (const { client, fault, value } of answers.map((answer) => ({ value: undefined, ...answer }))) {
      if (fault === undefined) {
        values.push(value as T);
        if (this.#lost.delete(client)) this.#operator.say(`${client.address} is back`);
      } else if (!this.#lost.has(client)) {
        this.#lost.add(client);
        this.#operator.say(`konnectivity-ts: ${fault.line}; trying again`);
      }
    }
    return { values, complete: values.length === answers.length };
  }
}
