import { DEFAULT_CIPHERS, type SecureVersion } from 'node:tls';

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** Go's names of TLS versions. */
export const TLS_VERSION_NAMES: readonly string[] = Object.keys(VERSIONS);

/** Node's name for Go's `VersionTLS12` and so on; empty means TLS 1.2; undefined when there is no such version. */
export function tlsVersion(name: string): SecureVersion | undefined {
  if (name === '') return 'TLSv1.2';
  return Object.hasOwn(VERSIONS, name) ? VERSIONS[name] : undefined;
}

// The suites that Go counts as secure; RSA key exchange, 3DES and RC4 are not among them.
const SUITES: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
};
// Go takes these names and then has all three whatever was chosen, and so do we: without any of them Node would
// switch TLS 1.3 off.
const TLS13_SUITES = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
] as const;

/** Go's names of the suites that may be chosen. */
export const CIPHER_SUITE_NAMES: readonly string[] = [...Object.keys(SUITES), ...TLS13_SUITES];

/**
 * The `ciphers` option of node:tls for Go's suite names, all of which must be in CIPHER_SUITE_NAMES; undefined for
 * Node's default. Below TLS 1.2 OpenSSL must be told to allow the old signatures, or every handshake fails.
 */
export function tlsCiphers(names: readonly string[], minVersion: SecureVersion): string | undefined {
  const old = minVersion === 'TLSv1' || minVersion === 'TLSv1.1';
  if (names.length === 0) return old ? `${DEFAULT_CIPHERS}:@SECLEVEL=0` : undefined;
  const chosen = names.flatMap((name) => SUITES[name] ?? []);
  // Names of TLS 1.3 alone choose nothing for the older versions: Go then has no suite for them.
  return [...TLS13_SUITES, ...chosen, ...(old ? ['@SECLEVEL=0'] : [])].join(':');
}
