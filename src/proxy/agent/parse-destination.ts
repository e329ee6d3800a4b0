import { isIP } from 'node:net';
import { Fault, oneLine } from '../ops/fault.ts';

/** A host and port that an agent is asked to connect to. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** Parses `host:port` and `[v6]:port`. Throws a Fault `bad-address`. */
export function parseDestination(address: string): Destination {
  const bad = (why: string): Fault =>
    new Fault('bad-address', `dial tcp: address ${oneLine(address, 300)}: ${why}`);
  const bracketed = /^\[([^\]]*)\](.*)$/s.exec(address);
  const at = address.lastIndexOf(':');
  const host = bracketed ? bracketed[1]! : address.slice(0, Math.max(at, 0));
  const tail = bracketed ? bracketed[2]! : address.slice(at);
  if (at < 0 || !tail.startsWith(':')) throw bad('missing port in address');
  if (bracketed && isIP(host) !== 6) throw bad('no IPv6 address between the brackets');
  if (!bracketed && host.includes(':')) throw bad('too many colons in address');
  if (host === '') throw bad('missing host in address');
  if (!/^[^\s\u0000-\u001f\u007f[\]/\\@]{1,255}$/.test(host)) throw bad('invalid host');
  const port = /^:\d{1,5}$/.test(tail) ? Number(tail.slice(1)) : 0;
  if (port < 1 || port > 65_535) throw bad('invalid port');
  return { host, port };
}
