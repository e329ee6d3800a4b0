import type { KubeAnswer, KubeApi } from './kube-api.ts';

/** What the API says of a token. */
export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: { readonly username?: string };
  /** Those of the audiences asked for that the token has. */
  readonly audiences?: readonly string[];
  readonly error?: string;
}

/** Asks the API about tokens (authentication.k8s.io/v1); needs the right `create tokenreviews`. */
export class TokenReviews {
  readonly #api: KubeApi;

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** Rejects with a KubeFault. */
  async create(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<KubeAnswer<TokenReviewStatus>> {
    const review = {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { token, audiences },
    };
    const path = '/apis/authentication.k8s.io/v1/tokenreviews';
    const answer = await this.#api.request<{ status?: TokenReviewStatus }>('POST', path, {
      body: review,
      signal,
      repeatable: true,
      secret: token,
    });
    return { status: answer.status, body: answer.body.status ?? {} };
  }
}
