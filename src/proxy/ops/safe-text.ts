/** Text from outside made safe for one log or terminal line: secrets masked, control characters escaped, cut at `limit`. */
export function oneLine(text: string, limit = 500): string {
  const short = cut(text, limit);
  // Nearly every cell of a table, and there are thousands of them.
  if (PLAIN.test(short) && !TELLING.test(short)) return short;
  const escaped = withoutSecrets(short).replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return cut(escaped, limit);
}

/** `text`, or its first `limit` characters and an ellipsis. Never half a character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return `${text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit)}…`;
}

const PLAIN = /^[\u0020-\u007e]*$/;
/** What every one of the secrets has in it. */
const TELLING = /-----BEGIN|eyJ|:\/\/|bearer|basic|passw|secret|token/i;

const SECRETS: readonly (readonly [RegExp, string])[] = [
  // PEM: a key is a secret, and a certificate is noise. One without its end (cut off) counts as well.
  [/-----BEGIN ([A-Z0-9 ]{1,40})-----[\s\S]*?(?:-----END \1-----|$)/g, '[$1 removed]'],
  // JSON Web Tokens, those of service accounts among them; the first part is always the base64url of `{"`.
  [/\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g, '[token removed]'],
  [/\b(bearer|basic)([ :=]+)[\w.~+/=-]{8,}/gi, '$1$2[removed]'],
  [
    /\b(password|passwd|secret|(?:access_)?token)("?[ ]*=[ ]*["']?|"?[ ]*:[ ]*["'])[^\s"'&,;]{6,}/gi,
    '$1$2[removed]',
  ],
  // Credentials in a URL.
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]{1,200}@/gi, '$1[removed]@'],
];

/** `text` with everything masked that looks like a credential. What is masked here should not have come this far. */
export function withoutSecrets(text: string): string {
  let safe = text;
  for (const [pattern, replacement] of SECRETS) safe = safe.replace(pattern, replacement);
  return safe;
}
