import { oneLine } from '../ops/fault.ts';
import { hide, type KubeFault } from './kube-fault.ts';
import type { TokenReviewStatus } from './token-reviews.ts';

/** Whose tokens are taken. */
export interface TokenPolicy {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly audience: string;
}

/** What a token is good for. Reasons go to the agent and into the log, and never hold the token. */
export type TokenVerdict =
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused';
      readonly why: 'no-token' | 'bad-token' | 'wrong-audience' | 'wrong-account';
      readonly reason: string;
    }
  /** Nobody could tell. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Judges the answer of the API about `token`. */
export function judge(policy: TokenPolicy, token: string, status: TokenReviewStatus): TokenVerdict {
  const said = oneLine(hide(asText(status.error), [token]), 300);
  const words = said === '' ? '' : ` (${said})`;
  if (status.authenticated !== true) {
    if (/audience/i.test(said)) return wrongAudience(policy, words);
    return refused('bad-token', `the Kubernetes API does not accept the token${words}`);
  }
  if (said !== '') return refused('bad-token', `the Kubernetes API has doubts about the token${words}`);
  // An API that does not know audiences would name none: then the token may have been meant for somebody else.
  if (!Array.isArray(status.audiences) || !status.audiences.includes(policy.audience)) {
    return wrongAudience(policy, '');
  }
  const username = asText(status.user?.username);
  const expected = `system:serviceaccount:${policy.namespace}:${policy.serviceAccount}`;
  if (username === expected) return { kind: 'accepted' };
  const shown = username === '' ? 'nobody' : oneLine(hide(username, [token]), 200);
  return refused('wrong-account', `the token belongs to ${shown}, and ${expected} is expected`);
}

/** Nothing but a string is one: a list of one name reads like the name. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : '(no text)';
}

/** The API did not answer the question. */
export function unknown(fault: KubeFault): TokenVerdict {
  const reason = `the token cannot be checked: ${fault.line}`;
  return { kind: 'unknown', reason };
}

function wrongAudience({ audience }: TokenPolicy, words: string): TokenVerdict {
  return refused('wrong-audience', `the token is not made for the audience ${audience}${words}`);
}

function refused(
  why: Extract<TokenVerdict, { kind: 'refused' }>['why'],
  reason: string,
): Extract<TokenVerdict, { kind: 'refused' }> {
  return { kind: 'refused', why, reason };
}
