import { Fault, oneLine } from '../ops/fault.ts';

const ABOUT_THE_DIAL = new Set(['dial-refused', 'dial-timeout', 'bad-answer', 'tunnel-lost']);

/** Whether a fault is about the dial or the tunnel; if not, the server itself was not reached. */
export function isDialFault(fault: Fault): boolean {
  return ABOUT_THE_DIAL.has(fault.code);
}

/** The server's word that it cannot have this tunnel. */
export function dialRefused(server: string, address: string, reason: string): Fault {
  return new Fault('dial-refused', `${server} could not open a tunnel to ${address}: ${oneLine(reason)}`);
}

/** The server said something that is no answer to a dial. */
export function badAnswer(server: string, what: string): Fault {
  return new Fault(
    'bad-answer',
    `${server} gave no proper answer: ${oneLine(what)}`,
    'check that this is a frontend of a konnectivity server, and its mode (grpc or http-connect)',
  );
}

/** Why an established tunnel broke; the border to Node's socket errors. A Fault passes unchanged. */
export function tunnelLost(error: unknown, address: string): Fault {
  if (error instanceof Fault) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new Fault('tunnel-lost', `the tunnel to ${address} was cut (${code ?? message})`, '', error);
}
