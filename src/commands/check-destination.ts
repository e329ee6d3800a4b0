import { parseDestination } from '../proxy/agent/parse-destination.ts';
import { Fault } from '../proxy/ops/fault.ts';

/** @throws Fault `bad-address` for what no dial could reach: it is refused before anybody is asked */
export function checkDestination(address: string): void {
  try {
    parseDestination(address);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const why = error.message.slice(error.message.lastIndexOf(': ') + 2);
    throw new Fault('bad-address', `"${address}" is no destination: ${why}`, 'give HOST:PORT or [IPv6]:PORT');
  }
}
