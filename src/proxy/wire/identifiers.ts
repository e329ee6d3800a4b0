import { isIP } from 'node:net';

/** What an agent says it serves: the request metadata `agentIdentifiers` and the flag `--agent-identifiers`. */
export interface Identifiers {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  readonly host: readonly string[];
  readonly cidr: readonly string[];
  readonly defaultRoute: boolean;
}

/** The kinds in the order in which they are written. */
export const IDENTIFIER_KINDS = ['ipv4', 'ipv6', 'host', 'cidr', 'default-route'] as const;
type ListKind = Exclude<(typeof IDENTIFIER_KINDS)[number], 'default-route'>;

/** An identifier string that an agent must not be started with; the message names what is wrong. */
export class IdentifierError extends Error {
  override readonly name = 'IdentifierError';
}

/** Says nothing: such an agent serves what the default strategy gives it. */
export const NO_IDENTIFIERS: Identifiers = { ipv4: [], ipv6: [], host: [], cidr: [], defaultRoute: false };

// Go's strconv.ParseBool, which upstream reads default-route with.
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/**
 * Reads a peer's URL-encoded query, such as `host=node-a&ipv4=10.0.0.1&default-route=true`. Each kind may be
 * repeated. A later version may say more than this one knows, so unknown kinds, empty values and pairs that cannot
 * be decoded are skipped.
 */
export function parseIdentifiers(query: string): Identifiers {
  return collect(query, () => {});
}

/**
 * Reads the same form as an operator wrote it.
 * @throws IdentifierError on an unknown kind, text that cannot be decoded, an address or range that is none, or a
 * default-route that is no boolean
 */
export function parseIdentifiersStrictly(query: string): Identifiers {
  return collect(query, (problem) => {
    throw new IdentifierError(problem);
  });
}

/** Writes identifiers as the metadata carries them; empty when there are none. */
export function formatIdentifiers(identifiers: Identifiers): string {
  const pairs: string[] = [];
  for (const kind of IDENTIFIER_KINDS) {
    if (kind === 'default-route') {
      if (identifiers.defaultRoute) pairs.push('default-route=true');
    } else {
      for (const value of identifiers[kind]) pairs.push(`${kind}=${encodeURIComponent(value)}`);
    }
  }
  return pairs.join('&');
}

function collect(query: string, refuse: (problem: string) => void): Identifiers {
  const lists: Record<ListKind, string[]> = { ipv4: [], ipv6: [], host: [], cidr: [] };
  let defaultRoute = false;
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const split = pair.indexOf('=');
    const kind = decode(split < 0 ? pair : pair.slice(0, split));
    const value = decode(split < 0 ? '' : pair.slice(split + 1));
    if (kind === undefined || value === undefined) {
      refuse(`"${pair}" is not URL-encoded: a % must be followed by two hex digits`);
    } else if (!isKind(kind)) {
      refuse(`unknown identifier kind "${kind}" in "${pair}"; the kinds are ${IDENTIFIER_KINDS.join(', ')}`);
    } else if (kind === 'default-route') {
      if (!TRUE.has(value) && !FALSE.has(value)) refuse(`"${pair}": default-route is either true or false`);
      defaultRoute ||= TRUE.has(value);
    } else {
      if (!isValid(kind, value)) refuse(`"${pair}": "${value}" is not a valid ${kind}`);
      if (value !== '' && !lists[kind].includes(value)) lists[kind].push(value);
    }
  }
  return { ...lists, defaultRoute };
}

function isKind(text: string): text is (typeof IDENTIFIER_KINDS)[number] {
  return (IDENTIFIER_KINDS as readonly string[]).includes(text);
}

/** As loose as upstream's agent, so that an argument list it takes is taken here. */
function isValid(kind: ListKind, value: string): boolean {
  if (kind === 'host') return true;
  if (kind !== 'cidr') return isIP(value) !== 0;
  const [address, bits, more] = value.split('/') as [string, string | undefined, string | undefined];
  const family = isIP(address);
  if (family === 0 || bits === undefined || more !== undefined || !/^\d{1,3}$/.test(bits)) return false;
  return Number(bits) <= (family === 4 ? 32 : 128);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
