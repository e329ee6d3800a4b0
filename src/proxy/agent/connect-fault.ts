import { Fault } from '../ops/fault.ts';
import type { FaultCode } from '../ops/fault-code.ts';

/** Code and words for what the system says of a connect; the words are Go's, because people search for them. */
const CAUSES: Readonly<Record<string, readonly [code: FaultCode, words: string]>> = {
  ECONNREFUSED: ['refused', 'connect: connection refused'],
  EHOSTUNREACH: ['unreachable', 'connect: no route to host'],
  ENETUNREACH: ['unreachable', 'connect: network is unreachable'],
  EHOSTDOWN: ['unreachable', 'connect: host is down'],
  ENETDOWN: ['unreachable', 'connect: network is down'],
  EAFNOSUPPORT: ['unreachable', 'connect: address family not supported by protocol'],
  ECONNRESET: ['reset', 'connect: connection reset by peer'],
  ECONNABORTED: ['reset', 'connect: software caused connection abort'],
  EPIPE: ['reset', 'connect: broken pipe'],
  ETIMEDOUT: ['timeout', 'connect: connection timed out'],
  EMFILE: ['descriptors', 'socket: too many open files'],
  ENFILE: ['descriptors', 'socket: too many open files in system'],
  EACCES: ['failed', 'connect: permission denied'],
  EPERM: ['failed', 'connect: operation not permitted'],
  EINVAL: ['failed', 'connect: invalid argument'],
  EADDRNOTAVAIL: ['failed', 'connect: cannot assign requested address'],
  ENOBUFS: ['failed', 'connect: no buffer space available'],
};

/** The border to node:net: why `endpoint` (`ip:port`) could not be connected to. */
export function connectFault(endpoint: string, error: NodeJS.ErrnoException): Fault {
  const [code, words] = CAUSES[error.code ?? ''] ?? ['failed', `connect: ${error.code ?? error.message}`];
  return new Fault(code, `dial tcp ${endpoint}: ${words}`, '', error);
}

// The first one here says most about the destination or us: an address family that we cannot reach says little.
const TELLING = ['descriptors', 'refused', 'reset', 'failed', 'timeout', 'unreachable'];

/** Of the failures of all addresses of one name, the one to report; `faults` is not empty. */
export function mostTelling(faults: readonly Fault[]): Fault {
  const rank = (fault: Fault): number => TELLING.indexOf(fault.code);
  return faults.reduce((best, fault) => (rank(fault) < rank(best) ? fault : best));
}
