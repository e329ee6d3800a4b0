import { Counter, type Registry } from 'prom-client';
import { AgentTokens } from '../proxy/kubernetes/agent-tokens.ts';
import { openKubeApi } from '../proxy/kubernetes/kube-api.ts';
import { TokenReviews } from '../proxy/kubernetes/token-reviews.ts';
import type { ServeOptions } from './flags/serve-options.ts';

/** Less than the 10 s after which an agent gives up: it should hear why. */
const REVIEW_TIMEOUT_MS = 8_000;

/** Token authentication of agents, and what ends the connections behind it. */
export interface AgentTokensSetup {
  readonly authenticator: AgentTokens;
  close(): void;
}

/**
 * Sets it up if the flags ask for it. It has a Kubernetes API of its own, so that a flood of tokens uses up no turns of
 * other features. @throws Fault for a bad kubeconfig
 */
export async function agentTokens(
  options: ServeOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AgentTokensSetup | undefined> {
  const { tokens: policy, kube } = options;
  if (policy === undefined) return undefined;
  const api = await openKubeApi(
    { kubeconfig: kube.kubeconfig, env },
    { ...kube, timeoutMs: REVIEW_TIMEOUT_MS },
  );
  return {
    authenticator: new AgentTokens({ policy, reviews: new TokenReviews(api) }),
    close: () => api.close(),
  };
}

/** Counts what the API said of tokens. */
export function countReviews(registry: Registry, { outcomes }: AgentTokens): void {
  new Counter({
    name: 'konnectivity_ts_token_reviews_total',
    help: 'TokenReviews of agents by outcome; unknown: the API could not be asked.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(outcomes)) this.inc({ outcome }, count);
    },
  });
}
