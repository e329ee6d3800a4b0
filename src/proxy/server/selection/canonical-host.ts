import { isIPv6, SocketAddress } from 'node:net';

const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/**
 * The host of a dial's `host:port` as it is written, without port and brackets. Text with several colons and no
 * brackets is an IPv6 address without a port.
 */
export function hostOf(address: string): string {
  if (address.charCodeAt(0) === OPENING_BRACKET) return address.slice(1, Math.max(1, address.indexOf(']')));
  const colon = address.indexOf(':');
  if (colon < 0) return address;
  // What follows is a port, too short for a search to pay.
  for (let i = colon + 1; i < address.length; i++) if (address.charCodeAt(i) === COLON) return address;
  return address.slice(0, colon);
}

/**
 * A host in the form in which hosts are compared: lower case, no final dot, no brackets, an IPv6 address in its
 * shortest spelling (RFC 5952), an IPv4-mapped one as IPv4. What is no valid IPv6 address stays as it is.
 */
export function canonicalHost(host: string): string {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (bare.includes(':')) return canonicalIpv6(bare);
  const lower = bare.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

function canonicalIpv6(text: string): string {
  const [address, zone] = text.split('%', 2) as [string, string | undefined];
  if (!isIPv6(address)) return text.toLowerCase();
  const spelling = new SocketAddress({ address, family: 'ipv6' }).address;
  const canonical = MAPPED_IPV4.exec(spelling)?.[1] ?? spelling;
  return zone === undefined ? canonical : `${canonical}%${zone}`;
}
