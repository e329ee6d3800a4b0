import { isIP } from 'node:net';
import { RereadFile } from './reread-file.ts';

/** An address that a name stands for. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Names in lower case, without a dot at the end. */
export type Hosts = ReadonlyMap<string, readonly ResolvedAddress[]>;

/** Reads hosts(5). Lines that make no sense are skipped. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const written of names) {
      const name = written.toLowerCase().replace(/\.$/, '');
      const known = hosts.get(name);
      if (known === undefined) hosts.set(name, [{ address, family }]);
      else if (!known.some((a) => a.address === address)) known.push({ address, family });
    }
  }
  return hosts;
}

/** The hosts file, read again when it changes. */
export function openHostsFile(path: string, now?: () => number): RereadFile<Hosts> {
  return new RereadFile<Hosts>({
    path,
    parse: parseHosts,
    empty: new Map(),
    ...(now === undefined ? {} : { now }),
  });
}
