import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Refusal, statusObject } from './status.ts';

export type Verb = 'list' | 'watch' | 'get' | 'create' | 'update' | 'delete';
export type Resource = 'leases' | 'tokenreviews' | 'other';

/** A request that the API got. */
export interface KubeRequest {
  readonly verb: Verb;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
}

/** What goes wrong: a refusal; the connection is reset; no answer until the fault is taken away; a body that is no JSON. */
export type FaultKind = Refusal | 'reset' | 'hang' | 'garbage';

interface Fault {
  readonly verb: Verb | '*';
  readonly resource: Resource | '*';
  readonly kind: FaultKind;
  left: number;
  readonly release: Promise<void>;
}

/** The scripted faults of a fake API. */
export class KubeFaults {
  readonly #faults = new Set<Fault>();

  /**
   * The next `times` requests of that kind fail, for ever by default. Faults set later come first.
   * @returns takes the fault away; what hangs is answered then
   */
  add(
    verb: Verb | '*',
    resource: Resource | '*',
    kind: FaultKind,
    times = Number.POSITIVE_INFINITY,
  ): () => void {
    let free!: () => void;
    const release = new Promise<void>((resolve) => {
      free = resolve;
    });
    const fault: Fault = { verb, resource, kind, left: times, release };
    this.#faults.add(fault);
    return () => {
      this.#faults.delete(fault);
      free();
    };
  }

  /** Lets the fault for this request happen. Resolves with true when that answered the request. */
  async strike(request: KubeRequest, from: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const matching = [...this.#faults].filter(
      ({ verb, resource, left }) =>
        left > 0 && [request.verb, '*'].includes(verb) && [request.resource, '*'].includes(resource),
    );
    const fault = matching.at(-1);
    if (fault === undefined) return false;
    fault.left--;
    if (fault.kind === 'hang') {
      await fault.release;
      return response.destroyed;
    }
    if (fault.kind === 'reset') from.socket.destroy();
    else if (fault.kind === 'garbage')
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"kind":');
    else refuse(response, fault.kind);
    return true;
  }
}

/** Answers with a Status. */
export function refuse(response: ServerResponse, refused: Refusal): void {
  const { code, retryAfterSeconds } = refused;
  const later = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  answer(response, code, statusObject(refused), later);
}

export function answer(
  response: ServerResponse,
  code: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body);
  response
    .writeHead(code, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}
