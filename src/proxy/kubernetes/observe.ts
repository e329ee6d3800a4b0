import type { Clock } from '../ops/clock.ts';
import { KubeFault } from './kube-fault.ts';

/** Told of each answer of the API: HTTP status, the API's reason (empty for success), time it took. */
export type Tell = (status: number, reason: string, seconds: number) => void;

/** Runs a request and tells of its answer. */
export type Observe = <T extends { readonly status: number }>(request: () => Promise<T>) => Promise<T>;

/** As upstream counts: what got no answer is not counted. */
export function observeBy(clock: Clock, tell: Tell): Observe {
  return async (request) => {
    const startMs = clock.monoMs();
    const done = (status: number, reason: string): void =>
      tell(status, reason, (clock.monoMs() - startMs) / 1000);
    try {
      const answer = await request();
      // Upstream calls each success 200.
      done(200, '');
      return answer;
    } catch (error) {
      if (error instanceof KubeFault && error.httpStatus !== undefined)
        done(error.httpStatus, error.kubeReason);
      throw error;
    }
  };
}
