import { createHash } from 'node:crypto';
import { bearerToken } from './bearer-token.ts';
import { ExpiringMap } from './expiring-map.ts';
import { KubeFault } from './kube-fault.ts';
import type { TokenReviews } from './token-reviews.ts';
import { judge, type TokenPolicy, type TokenVerdict, unknown } from './token-verdict.ts';

/** Times and bounds; tests shrink them. */
export interface AgentTokensOptions {
  readonly policy: TokenPolicy;
  readonly reviews: Pick<TokenReviews, 'create'>;
  /** How long a token is taken after the API accepted it, so how long a revoked one lives on; default 60 s. */
  readonly acceptedMs?: number;
  /** How long a refused one is refused without a new question; default 5 s. */
  readonly refusedMs?: number;
  /** Distinct tokens under review at once; default 1,024. */
  readonly mostReviews?: number;
  /** Remembered tokens: of more, the oldest are forgotten. Refused ones cannot crowd out accepted ones. */
  readonly mostAccepted?: number;
  readonly mostRefused?: number;
  readonly now?: () => number;
}

/** What became of a question. */
export type ReviewOutcome = TokenVerdict['kind'];

interface Review {
  readonly verdict: Promise<TokenVerdict>;
  readonly stop: AbortController;
  waiting: number;
}

const GIVEN_UP: TokenVerdict = { kind: 'unknown', reason: 'the agent gave up' };

/**
 * Checks the tokens of agents by TokenReview: one at a time for each token, however many agents bring it. Tokens
 * themselves are kept only while they are under review; what is remembered is known by their SHA-256.
 */
export class AgentTokens {
  /** Questions that were answered, for metrics. */
  readonly outcomes: Record<ReviewOutcome, number> = { accepted: 0, refused: 0, unknown: 0 };
  readonly #options: AgentTokensOptions;
  readonly #accepted: ExpiringMap<TokenVerdict>;
  readonly #refused: ExpiringMap<TokenVerdict>;
  readonly #reviews = new Map<string, Review>();
  readonly #mostReviews: number;

  constructor(options: AgentTokensOptions) {
    const { acceptedMs = 60_000, refusedMs = 5_000, mostAccepted = 16_384, mostRefused = 4_096 } = options;
    const now = options.now ?? (() => performance.now());
    this.#options = options;
    this.#accepted = new ExpiringMap(acceptedMs, mostAccepted, now);
    this.#refused = new ExpiringMap(refusedMs, mostRefused, now);
    this.#mostReviews = options.mostReviews ?? 1_024;
  }

  /** Reviews under way. */
  get pending(): number {
    return this.#reviews.size;
  }

  /**
   * Judges who comes with these values of the authorization header. Never rejects; resolves at once with the signal,
   * and a review that nobody waits for any more is given up.
   */
  async check(authorization: readonly unknown[], signal: AbortSignal): Promise<TokenVerdict> {
    const sent = bearerToken(authorization);
    if ('problem' in sent) return { kind: 'refused', why: 'no-token', reason: sent.problem };
    const key = createHash('sha256').update(sent.token).digest('base64');
    const known = this.#accepted.get(key) ?? this.#refused.get(key);
    if (known !== undefined) return known;
    if (signal.aborted) return GIVEN_UP;
    const review = this.#reviews.get(key) ?? this.#begin(key, sent.token);
    if (review === undefined) {
      return { kind: 'unknown', reason: `the token cannot be checked now: ${this.#mostReviews} others are` };
    }
    return this.#wait(key, review, signal);
  }

  #begin(key: string, token: string): Review | undefined {
    if (this.#reviews.size >= this.#mostReviews) return undefined;
    const stop = new AbortController();
    const review = { verdict: this.#review(key, token, stop.signal), stop, waiting: 0 };
    this.#reviews.set(key, review);
    // What it rejects with, those who wait are told.
    review.verdict.finally(() => this.#forget(key, review)).catch(() => {});
    return review;
  }

  #forget(key: string, review: Review): void {
    if (this.#reviews.get(key) === review) this.#reviews.delete(key);
  }

  async #review(key: string, token: string, signal: AbortSignal): Promise<TokenVerdict> {
    const { policy, reviews } = this.#options;
    let verdict: TokenVerdict;
    try {
      verdict = judge(policy, token, (await reviews.create(token, [policy.audience], signal)).body);
    } catch (error) {
      if (!(error instanceof KubeFault)) throw error;
      verdict = unknown(error);
    }
    if (signal.aborted) return verdict;
    this.outcomes[verdict.kind]++;
    if (verdict.kind === 'accepted') this.#accepted.set(key, verdict);
    if (verdict.kind === 'refused') this.#refused.set(key, verdict);
    return verdict;
  }

  #wait(key: string, review: Review, signal: AbortSignal): Promise<TokenVerdict> {
    review.waiting++;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        review.waiting--;
        if (review.waiting === 0) {
          // At once, so that an agent that comes now begins a new one.
          this.#forget(key, review);
          review.stop.abort();
        }
        resolve(GIVEN_UP);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      review.verdict.finally(() => signal.removeEventListener('abort', onAbort)).then(resolve, reject);
    });
  }
}
