import { Fault, oneLine } from '../ops/fault.ts';
import { connectFault } from '../ops/tls-errors.ts';

/** What a request to the Kubernetes API failed with. */
export type KubeFaultCode =
  /** 401: our own credentials are not taken. */
  | 'kube-unauthorized'
  /** 403: we may not do this. */
  | 'kube-forbidden'
  | 'kube-not-found'
  /** 409: somebody else was faster. */
  | 'kube-conflict'
  /** 410: that version of the list is no longer kept. */
  | 'kube-gone'
  /** 429. */
  | 'kube-throttled'
  /** Another answer of 4xx, or a redirect. */
  | 'kube-refused'
  /** 5xx. */
  | 'kube-server-error'
  /** No connection, or one that was lost: TCP, TLS, DNS. */
  | 'kube-unreachable'
  | 'kube-timeout'
  /** Our own limit of requests per second is used up for as long as a request may wait. */
  | 'kube-busy'
  /** An answer that cannot be understood. */
  | 'kube-bad-answer'
  /** No credentials: a token file, a plug-in. */
  | 'kube-credentials'
  /** The caller gave up. */
  | 'kube-cancelled';

/** A request to the Kubernetes API that failed, in words. */
export class KubeFault extends Fault {
  declare readonly code: KubeFaultCode;
  /** The status of the answer; undefined when there was none. */
  readonly httpStatus: number | undefined;
  /** The API's own word (`Forbidden`, `AlreadyExists`, `Expired`), for metrics; empty without an answer. */
  readonly kubeReason: string;
  /** How long the API wants to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: KubeFaultCode,
    message: string,
    more: {
      remedy?: string;
      httpStatus?: number | undefined;
      kubeReason?: string;
      retryAfterMs?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(code, message, more.remedy ?? '', more.cause);
    this.name = 'KubeFault';
    this.httpStatus = more.httpStatus;
    this.kubeReason = more.kubeReason ?? '';
    this.retryAfterMs = more.retryAfterMs;
  }
}

/** Why there was no answer: sockets, DNS and TLS. `server` is the address as the user wrote it. */
export function unreachable(error: unknown, server: string): KubeFault {
  if (error instanceof KubeFault) return error;
  const { message, remedy } = connectFault(error, server);
  return new KubeFault('kube-unreachable', `the Kubernetes API cannot be reached: ${message}`, {
    remedy,
    cause: error,
  });
}

/**
 * Why an answer is no success.
 * @param text the body of the answer
 * @param secrets what must not be shown, although the answer may repeat it
 */
export function refused(
  status: number,
  text: string,
  retryAfterMs: number | undefined,
  secrets: readonly string[] = [],
): KubeFault {
  const { message, reason } = statusObject(text, secrets);
  const words = message === '' ? `HTTP ${status}` : `HTTP ${status}: ${oneLine(message, 300)}`;
  const [code, what, remedy] = describe(status);
  return new KubeFault(code, `${what} (${words})`, {
    remedy,
    httpStatus: status,
    kubeReason: reason,
    retryAfterMs,
  });
}

function describe(status: number): readonly [code: KubeFaultCode, what: string, remedy: string] {
  if (status >= 500) return ['kube-server-error', 'the Kubernetes API has a failure of its own', ''];
  switch (status) {
    case 401:
      return [
        'kube-unauthorized',
        'the Kubernetes API does not accept our credentials',
        'check the user of --kubeconfig, or the service account of the Pod',
      ];
    case 403:
      return ['kube-forbidden', 'the Kubernetes API does not allow us this', 'give our account the right'];
    case 404:
      return ['kube-not-found', 'the Kubernetes API does not have this', ''];
    case 409:
      return ['kube-conflict', 'the object was changed by somebody else', ''];
    case 410:
      return ['kube-gone', 'the Kubernetes API no longer has that version', ''];
    case 429:
      return ['kube-throttled', 'the Kubernetes API has too many requests', ''];
    default:
      return ['kube-refused', 'the Kubernetes API refused the request', ''];
  }
}

/** Message and reason of a Status object, without the secrets; a text that is none is the message. */
export function statusObject(
  text: string,
  secrets: readonly string[] = [],
): { message: string; reason: string; code: number | undefined } {
  try {
    const { kind, message, reason, code } = JSON.parse(text) as Record<string, unknown>;
    if (kind === 'Status') {
      return {
        message: typeof message === 'string' ? hide(message, secrets) : '',
        // It becomes the label of a metric: what is no word of the API is none of ours.
        reason: typeof reason === 'string' && /^[A-Za-z]{1,63}$/.test(reason) ? hide(reason, secrets) : '',
        code: typeof code === 'number' ? code : undefined,
      };
    }
  } catch {
    // A proxy's page, or nothing.
  }
  return { message: hide(text, secrets).trim().slice(0, 300), reason: '', code: undefined };
}

/** `text` with the secrets masked. Before it is cut, since a part of a secret is one, too. */
export function hide(text: string, secrets: readonly string[]): string {
  let safe = text;
  for (const secret of secrets) if (secret !== '') safe = safe.replaceAll(secret, '<token>');
  return safe;
}
