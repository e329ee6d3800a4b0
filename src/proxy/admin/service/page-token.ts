import { badRequest, quoted } from './requests.ts';

const MOST_CHARACTERS = 4_096;

/** The token of the page behind that agent. */
export function tokenOf(lastAgentId: string): string {
  return Buffer.from(lastAgentId).toString('base64url');
}

/** The agent behind which the page begins; empty for the first page. @throws Fault `admin-bad-request` */
export function readToken(token: string): string {
  const after = token.length > MOST_CHARACTERS ? '' : Buffer.from(token, 'base64url').toString();
  if (token === '' || tokenOf(after) === token) return after;
  throw badRequest(
    `the page token ${quoted(token)} is none of ours`,
    'take next_page_token of the page before',
  );
}
