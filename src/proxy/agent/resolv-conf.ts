import { isIP } from 'node:net';
import { RereadFile } from './reread-file.ts';

/** What resolv.conf(5) says, as far as we follow it. */
export interface ResolvConf {
  /** `ip:port`, `[v6]:port`; never empty. */
  readonly servers: readonly string[];
  /** Without dots at the ends. */
  readonly searchDomains: readonly string[];
  /** A name with fewer dots than this is tried with the search domains first. */
  readonly ndots: number;
}

/** resolv.conf(5): without a nameserver line, the one of this machine. */
export const defaultResolvConf: ResolvConf = { servers: ['127.0.0.1:53'], searchDomains: [], ndots: 1 };

// The limits of glibc.
const MAX_SERVERS = 3;
const MAX_NDOTS = 15;
const MAX_SEARCH_DOMAINS = 32;

/** Reads resolv.conf(5). Lines that make no sense are skipped; `options` other than ndots are not followed. */
export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let { searchDomains, ndots } = defaultResolvConf;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    const first = values[0];
    if (first === undefined) continue;
    if (keyword === 'nameserver') {
      // c-ares takes no zone (`fe80::1%eth0`).
      if (isIP(first) !== 0 && !first.includes('%') && servers.length < MAX_SERVERS)
        servers.push(`${bracketed(first)}:53`);
    } else if (keyword === 'search' || keyword === 'domain') {
      const domains = keyword === 'domain' ? [first] : values;
      searchDomains = domains.map(withoutDots).filter(isDomain).slice(0, MAX_SEARCH_DOMAINS);
    } else if (keyword === 'options') {
      for (const option of values) {
        const given = /^ndots:(\d{1,9})$/.exec(option)?.[1];
        if (given !== undefined) ndots = Math.min(Number(given), MAX_NDOTS);
      }
    }
  }
  return { servers: servers.length > 0 ? servers : defaultResolvConf.servers, searchDomains, ndots };
}

/**
 * The names to ask for, in order: as resolv.conf(5) and the resolvers of Go and glibc do it. A dot at the end makes
 * a name absolute.
 */
export function searchNames(name: string, searchDomains: readonly string[], ndots: number): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = searchDomains.map((domain) => `${name}.${withoutDots(domain)}`).filter(isDomain);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...searched] : [...searched, name];
}

/** True for what may be asked of a name server: letters, digits, `-`, `_`; labels and the whole not too long. */
export function isDomain(name: string): boolean {
  return name.length <= 253 && /^[\w-]{1,63}(\.[\w-]{1,63})*$/.test(name);
}

/** The file, read again when it changes. */
export function openResolvConf(path: string, now?: () => number): RereadFile<ResolvConf> {
  return new RereadFile<ResolvConf>({
    path,
    parse: parseResolvConf,
    empty: defaultResolvConf,
    ...(now === undefined ? {} : { now }),
  });
}

function bracketed(ip: string): string {
  return ip.includes(':') ? `[${ip}]` : ip;
}

function withoutDots(domain: string): string {
  return domain.replace(/^\.+|\.+$/g, '');
}
