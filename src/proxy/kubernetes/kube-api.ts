import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Exchange, type KubeMessage } from './exchange.ts';
import type { KubeAccess } from './kube-access.ts';
import type { KubeConfigOptions } from './kube-config.ts';
import { KubeFault } from './kube-fault.ts';
import { TokenBucket } from './token-bucket.ts';
import { type WatchEvent, watchEvents } from './watch-events.ts';

export interface KubeRequestOptions {
  /** Sent as JSON. */
  readonly body?: object;
  /** Gives the request up: it then fails with `kube-cancelled`. */
  readonly signal: AbortSignal;
  /** See KubeMessage; true for GET. */
  readonly repeatable?: boolean;
  /** A part of the body that must not be shown, although the API may repeat it. */
  readonly secret?: string;
}

export interface KubeAnswer<T> {
  /** The HTTP status, 2xx. */
  readonly status: number;
  readonly body: T;
}

export interface KubeWatchOptions {
  readonly signal: AbortSignal;
  /** Ends the watch with `kube-timeout` when no byte came for this long: its connection may be dead. */
  readonly silentMs: number;
  /** The API has taken the watch: events come from now on. */
  readonly onOpen?: () => void;
}

/** The Kubernetes API, as far as we need it. Everything fails with KubeFaults. */
export interface KubeApi {
  /** One request; `path` with its query. Waits for its turn, and as long as the API asks for (429), within the time-out. */
  request<T>(
    method: KubeMessage['method'],
    path: string,
    options: KubeRequestOptions,
  ): Promise<KubeAnswer<T>>;
  /**
   * The events of a watch, until the API ends it in order (it does so after the `timeoutSeconds` of the path). An ERROR
   * event is thrown as the KubeFault that it tells of, such as `kube-gone`.
   */
  watch<T>(path: string, options: KubeWatchOptions): AsyncGenerator<WatchEvent<T>, void, undefined>;
  /** Ends everything that is under way. */
  close(): void;
}

export interface KubeApiOptions {
  /** Requests per second and at once; 0: client-go's 5 and 10; negative: no limit. */
  readonly perSecond: number;
  readonly burst: number;
  /** For one request, its wait for a turn included; default 10 s. */
  readonly timeoutMs?: number;
  /** Instead of the system's DNS, for tests. */
  readonly lookup?: LookupFunction;
}

/** Of one request, while the API says that it has too many. */
const MOST_ATTEMPTS = 5;
/** A balancer's page for maintenance may ask for an hour: so long nobody could be checked, although the API is back. */
const MOST_PAUSE_MS = 30_000;
const DEFAULT_PER_SECOND = 5;
const DEFAULT_BURST = 10;
const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Finds the API (kubeconfig or Pod) and prepares to ask it; nothing is sent yet, so that it may be down.
 * @throws Fault `kube-config`, and those of token files
 */
export async function openKubeApi(config: KubeConfigOptions, options: KubeApiOptions): Promise<KubeApi> {
  const { loadKubeAccess } = await import('./kube-config.ts');
  return createKubeApi(await loadKubeAccess(config), options);
}

/** The API at a known place. */
export function createKubeApi(access: KubeAccess, options: KubeApiOptions): KubeApi {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const exchange = new Exchange(access, options.lookup);
  const closing = new AbortController();
  const perSecond = options.perSecond || DEFAULT_PER_SECOND;
  const bucket = new TokenBucket({ perSecond, burst: options.burst || DEFAULT_BURST, mostWaitMs: timeoutMs });

  /** Waits for a turn of ours, and until the API wants to hear of us again. */
  async function turn(signal: AbortSignal): Promise<void> {
    const waitMs = bucket.take();
    if (waitMs === undefined) throw noTurn();
    try {
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
      signal.throwIfAborted();
    } catch (error) {
      bucket.giveBack();
      throw error;
    }
  }

  function noTurn(): KubeFault {
    const seconds = Math.ceil(bucket.pausedMs / 1000);
    if (seconds * 1000 > timeoutMs) {
      const message = `the Kubernetes API has too many requests: it is left alone for ${seconds} s`;
      return new KubeFault('kube-throttled', message);
    }
    return new KubeFault('kube-busy', 'too many requests to the Kubernetes API wait for their turn', {
      remedy: `the limit of ${perSecond} a second can be raised (--kubeconfig-qps)`,
    });
  }

  /** Sends until an answer that is not "later", as long as there is time. */
  async function send(message: KubeMessage, signal: AbortSignal): Promise<IncomingMessage> {
    const untilMs = performance.now() + timeoutMs;
    for (let attempt = 1; ; attempt++) {
      await turn(signal);
      try {
        return await exchange.send(message, signal);
      } catch (error) {
        if (!(error instanceof KubeFault) || error.retryAfterMs === undefined) throw error;
        bucket.pause(Math.min(error.retryAfterMs, MOST_PAUSE_MS));
        // Nothing was done with the request, so it may be sent again.
        const late = performance.now() + error.retryAfterMs >= untilMs;
        if (late || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  /** Runs `work` with a signal that also ends after `ms`, and says which of them ended it. */
  async function within<T>(
    ms: number,
    outer: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error('late')), ms);
    try {
      return await work(AbortSignal.any([outer, closing.signal, late.signal]));
    } catch (error) {
      throw ended(error, outer, late.signal.aborted ? ms : undefined);
    } finally {
      clearTimeout(timer);
    }
  }

  function ended(error: unknown, outer: AbortSignal, lateMs: number | undefined): KubeFault {
    if (outer.aborted || closing.signal.aborted) {
      return new KubeFault('kube-cancelled', 'the request to the Kubernetes API was given up');
    }
    if (lateMs !== undefined) {
      const message = `the Kubernetes API at ${access.server} gave no answer within ${lateMs / 1000} s`;
      return new KubeFault('kube-timeout', message, { cause: error });
    }
    if (error instanceof KubeFault) return error;
    return new KubeFault('kube-bad-answer', `the request to the Kubernetes API failed: ${String(error)}`, {
      cause: error,
    });
  }

  return {
    request: <T>(method: KubeMessage['method'], path: string, more: KubeRequestOptions) =>
      within(timeoutMs, more.signal, async (signal) => {
        const body = more.body === undefined ? undefined : JSON.stringify(more.body);
        const answer = await send(
          { method, path, body, repeatable: more.repeatable ?? method === 'GET', secret: more.secret ?? '' },
          signal,
        );
        return {
          status: answer.statusCode ?? 0,
          body: parse<T>(await exchange.readAll(answer), answer.statusCode),
        };
      }),
    async *watch<T>(path: string, more: KubeWatchOptions) {
      const stop = new AbortController();
      const outer = AbortSignal.any([more.signal, closing.signal, stop.signal]);
      try {
        const answer = await within(timeoutMs, more.signal, (signal) => {
          // The time-out is for the head of the answer only; the body lives on.
          signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
          return send({ method: 'GET', path, body: undefined, repeatable: true, secret: '' }, outer);
        });
        more.onOpen?.();
        yield* watchEvents<T>(answer, { server: access.server, silentMs: more.silentMs });
      } catch (error) {
        throw ended(error, more.signal, undefined);
      } finally {
        stop.abort(new Error('the watch is over'));
      }
    },
    close: () => {
      closing.abort(new Error('closed'));
      exchange.close();
    },
  };
}

function parse<T>(text: string, status: number | undefined): T {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as T;
  } catch {
    // Below.
  }
  throw new KubeFault(
    'kube-bad-answer',
    'the Kubernetes API answered with something that is no JSON object',
    {
      remedy: 'check that the server of the kubeconfig is a Kubernetes API',
      httpStatus: status,
    },
  );
}
