import { Fault } from '../ops/fault.ts';
import type { ResolvedAddress } from './hosts-file.ts';
import type { FamilyAnswer } from './name-servers.ts';

/** Asks for one family of one name. Rejects with a Fault, or with `signal.reason`. */
export type FamilyQuery = (name: string, family: 4 | 6, signal: AbortSignal) => Promise<FamilyAnswer>;

/** What is known of a name; no addresses = it does not exist. */
export interface LookUp {
  readonly addresses: readonly ResolvedAddress[];
  readonly ttlSeconds: number;
  /** False when only one family answered in time. */
  readonly complete: boolean;
}

interface FamilyResult extends FamilyAnswer {
  readonly family: 4 | 6;
  readonly fault?: Fault;
}

/**
 * Tries the names in order until one has an address. A name server that fails for one name does not keep us from
 * the next; that failure is reported when none has an address, since then it is not known that none exists.
 */
export async function lookUpFirst(
  names: readonly string[],
  query: FamilyQuery,
  familyDelayMs: number,
  signal: AbortSignal,
): Promise<LookUp> {
  let failure: Fault | undefined;
  for (const name of names) {
    const found = await lookUpOne(name, query, familyDelayMs, signal);
    if (!(found instanceof Fault)) {
      if (found.addresses.length > 0) return found;
      continue;
    }
    failure ??= found;
  }
  if (failure !== undefined) throw failure;
  return { addresses: [], ttlSeconds: 0, complete: true };
}

/**
 * Both families at once. When one has answered with addresses, the other gets `familyDelayMs` more (RFC 8305,
 * section 3): some name servers never answer AAAA.
 */
async function lookUpOne(
  name: string,
  query: FamilyQuery,
  familyDelayMs: number,
  signal: AbortSignal,
): Promise<LookUp | Fault> {
  const late = new AbortController();
  const either = AbortSignal.any([signal, late.signal]);
  const ask = async (family: 4 | 6): Promise<FamilyResult> => {
    try {
      return { family, ...(await query(name, family, either)) };
    } catch (error) {
      if (signal.aborted) throw error;
      const fault = error instanceof Fault ? error : new Fault('dns-failed', String(error), '', error);
      return { family, addresses: [], ttlSeconds: 0, fault };
    }
  };
  const v6 = ask(6);
  const v4 = ask(4);
  const first = await Promise.race([v6, v4]);
  const timer =
    first.addresses.length > 0
      ? setTimeout(() => late.abort(new Fault('dns-timeout', 'i/o timeout')), familyDelayMs)
      : undefined;
  const both = await Promise.all([v6, v4]).finally(() => clearTimeout(timer));

  const answered = both.filter((result) => result.addresses.length > 0);
  const failure = both.find((result) => result.fault !== undefined)?.fault;
  if (answered.length === 0 && failure !== undefined) return failure;
  return {
    addresses: both.flatMap(({ family, addresses }) => addresses.map((address) => ({ address, family }))),
    ttlSeconds: answered.length === 0 ? 0 : Math.min(...answered.map((result) => result.ttlSeconds)),
    complete: failure === undefined,
  };
}
