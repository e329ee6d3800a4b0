/**
 * Why a connection did not come to be, read from what Node, OpenSSL and grpc-js say. `bad-*` is what *we* found in
 * the peer's certificate; `alert-*` is what the peer told us about ours, or about what we offered.
 */
export type TlsReason =
  | 'bad-expired'
  | 'bad-not-yet-valid'
  | 'bad-name'
  | 'bad-purpose'
  | 'bad-weak'
  | 'bad-unknown-ca'
  | 'bad-missing'
  | 'alert-required'
  | 'alert-expired'
  | 'alert-unknown-ca'
  | 'alert-certificate'
  | 'version'
  | 'cipher'
  | 'alpn'
  | 'not-tls'
  | 'handshake-timeout'
  | 'refused'
  | 'reset'
  | 'timeout'
  | 'unreachable'
  | 'no-such-host'
  | 'no-such-socket'
  | 'not-permitted'
  | 'descriptors'
  | 'other';

// The first match decides. Codes (ERR_SSL_TLSV1_ALERT_UNKNOWN_CA) and texts (tlsv1 alert unknown ca) differ in case
// and separators alone, which is why both are matched after those are made equal.
const PATTERNS: readonly (readonly [TlsReason, RegExp])[] = [
  ['alert-required', /alert certificate required/],
  ['alert-expired', /alert certificate expired/],
  ['alert-unknown-ca', /alert unknown ca/],
  [
    'alert-certificate',
    /alert (bad|unsupported|unknown|revoked) certificate|alert certificate (revoked|unknown)/,
  ],
  ['alert-certificate', /alert (access denied|decrypt error)/],
  ['bad-missing', /peer did not return a certificate/],
  ['bad-expired', /cert has expired|certificate has expired/],
  ['bad-not-yet-valid', /cert not yet valid|certificate is not yet valid/],
  ['bad-name', /cert altname invalid|does not match certificate's altnames/],
  ['bad-purpose', /invalid purpose|(unsupported|unsuitable) certificate purpose/],
  ['bad-weak', /key too (small|weak)|md too weak/],
  [
    'bad-unknown-ca',
    /self signed certificate|self signed cert|unable to (get|verify)|certificate signature failure/,
  ],
  ['bad-unknown-ca', /cert signature failure|cert untrusted|certificate not trusted|invalid ca/],
  ['alpn', /no application protocol/],
  ['version', /alert protocol version|unsupported protocol|version too (low|high)|no protocols available/],
  ['cipher', /no shared cipher|handshake failure|insufficient security|no suitable signature/],
  [
    'not-tls',
    /wrong version number|http request|https proxy request|packet length too long|unexpected message/,
  ],
  [
    'not-tls',
    /bad record type|invalid alert|record too small|not on record boundary|bad protocol version number/,
  ],
  ['handshake-timeout', /tls handshake timeout/],
  ['refused', /econnrefused/],
  ['timeout', /etimedout|connect timeout/],
  ['unreachable', /ehostunreach|enetunreach|ehostdown|enetdown/],
  ['no-such-host', /enotfound|eai again|name resolution failed/],
  ['no-such-socket', /enoent/],
  ['not-permitted', /eacces/],
  ['descriptors', /emfile|enfile/],
  [
    'reset',
    /econnreset|epipe|econnaborted|socket hang up|socket disconnected before|connection closed|socket closed/,
  ],
];

/** Classifies an error, or the text of one (grpc-js gives connection errors as text only). */
export function tlsReason(error: unknown): TlsReason {
  const text = errorText(error).toLowerCase().replace(/[_-]/g, ' ');
  for (const [reason, pattern] of PATTERNS) if (pattern.test(text)) return reason;
  return 'other';
}

/** Code and message of an error in one string. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return unframed(String(error));
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error.message.includes(code) ? error.message : `${code}: ${error.message}`;
}

/** What grpc-js' status details say without its frame: `No connection established. Last error: X (time). Resolution note: `. */
function unframed(text: string): string {
  return text
    .replace(/^.*Last error: /s, '')
    .replace(/\.? Resolution note:.*$/s, '')
    .replace(/ \(\d{4}-\d\d-\d\dT[^)]*\)/, '')
    .replace(/^Error( \[\w+\])?: /, '');
}

/** The names of a certificate out of Node's mismatch error: `DNS:localhost, IP Address:127.0.0.1`. */
export function certificateNames(error: unknown): string | undefined {
  const { cert } = error as { cert?: { subjectaltname?: string; subject?: { CN?: string } } };
  if (cert?.subjectaltname !== undefined) return cert.subjectaltname;
  if (cert?.subject?.CN !== undefined) return `CN ${cert.subject.CN} and no alternative name`;
  const found = /(?:altnames:(?!.*altnames:)|cert's list:|cert's CN:)\s*(.+?)\s*$/.exec(errorText(error));
  return found?.[1] === undefined || found[1] === '' ? undefined : found[1];
}
