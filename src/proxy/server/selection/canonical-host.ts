import { isIPv6, SocketAddress } from 'node:net';

const UPPER_CASE = /[^\u0000-@[-\u007f]/;
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/**
 * The host of a dial's `host:port`, in the form in which hosts are compared. Brackets and port are stripped; text
 * with several colons and no brackets is an IPv6 address without a port.
 */
export function canonicalHostOf(address: string): string {
  if (address.charCodeAt(0) === 0x5b) return canonicalHost(address.slice(0, address.indexOf(']') + 1));
  const colon = address.indexOf(':');
  if (colon < 0) return canonicalHost(address);
  if (address.indexOf(':', colon + 1) >= 0) return canonicalHost(address);
  return canonicalName(address.slice(0, colon));
}

/**
 * A host in the form in which hosts are compared: lower case, no final dot, no brackets, an IPv6 address in its
 * shortest spelling (RFC 5952), an IPv4-mapped one as IPv4. What is no valid IPv6 address stays as it is.
 */
export function canonicalHost(host: string): string {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return bare.includes(':') ? canonicalIpv6(bare) : canonicalName(bare);
}

function canonicalName(name: string): string {
  const lower = UPPER_CASE.test(name) ? name.toLowerCase() : name;
  return lower.charCodeAt(lower.length - 1) === 0x2e ? lower.slice(0, -1) : lower;
}

// Spelling an IPv6 address takes microseconds and the destinations of a cluster repeat, so the last ones are kept.
const REMEMBERED = 4096;
const spelled = new Map<string, string>();

function canonicalIpv6(text: string): string {
  const known = spelled.get(text);
  if (known !== undefined) return known;
  const canonical = spellIpv6(text);
  if (spelled.size >= REMEMBERED) spelled.clear();
  spelled.set(text, canonical);
  return canonical;
}

function spellIpv6(text: string): string {
  const [address, zone] = text.split('%', 2) as [string, string | undefined];
  if (!isIPv6(address)) return text.toLowerCase();
  const spelling = new SocketAddress({ address, family: 'ipv6' }).address;
  const canonical = MAPPED_IPV4.exec(spelling)?.[1] ?? spelling;
  return zone === undefined ? canonical : `${canonical}%${zone}`;
}
