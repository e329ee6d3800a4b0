/** More is no token of a service account. */
const MOST_CHARACTERS = 16 * 1024;

/**
 * The token of an `Authorization: Bearer` header, given as all values that came; or why there is none, in words that
 * hold nothing of it.
 */
export function bearerToken(values: readonly unknown[]): { token: string } | { problem: string } {
  if (values.length === 0) return { problem: 'no token was sent' };
  if (values.length > 1) return { problem: `${values.length} authorization headers were sent` };
  const match = /^Bearer +(.*)$/is.exec(String(values[0]));
  if (match === null) return { problem: 'the authorization header is no "Bearer TOKEN"' };
  const token = match[1]?.trim() ?? '';
  if (token === '') return { problem: 'the token that was sent is empty' };
  if (token.length > MOST_CHARACTERS)
    return { problem: `the token is longer than ${MOST_CHARACTERS} characters` };
  if (!/^[\x21-\x7e]+$/.test(token)) return { problem: 'the token has characters that no token has' };
  return { token };
}
