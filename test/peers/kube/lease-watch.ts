import type { ServerResponse } from 'node:http';
import type { KubeRequest } from './faults.ts';
import { inNamespace, type KubeLease, type LeaseEvent, type LeaseStore } from './lease-store.ts';
import { parseSelector, type Selector } from './selector.ts';
import { refusal, statusObject } from './status.ts';

/** One open watch: a response of one JSON object a line, as long as it lasts. */
export class LeaseWatch {
  readonly #response: ServerResponse;
  readonly #store: LeaseStore;
  readonly #namespace: string | undefined;
  readonly #selector: Selector;
  readonly #onEvent = (event: LeaseEvent): void => this.#send(event);

  /**
   * Begins the answer; ends with its response. Throws a Refusal, before anything is written.
   * @param expiry how a version that is too old is refused: by the code of the answer, or by an ERROR event in it
   */
  constructor(store: LeaseStore, request: KubeRequest, response: ServerResponse, expiry: 'status' | 'event') {
    const { query, namespace } = request;
    if (query.has('sendInitialEvents')) {
      throw refusal(
        422,
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      );
    }
    this.#store = store;
    this.#response = response;
    this.#namespace = namespace;
    this.#selector = parseSelector(query.get('labelSelector') ?? '');
    const version = query.get('resourceVersion') ?? '';
    const fromNow = version === '' || version === '0';
    const expired = !fromNow && Number(version) < store.oldest;
    if (expired && expiry === 'status')
      throw refusal(410, `too old resource version: ${version} (${store.oldest})`);
    response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    response.flushHeaders();
    if (expired) {
      this.expire();
      return;
    }
    if (fromNow)
      for (const object of store.list(namespace, this.#selector)) this.#line({ type: 'ADDED', object });
    else for (const event of store.since(Number(version))) this.#send(event);
    store.watchers.add(this.#onEvent);
    const seconds = Number(query.get('timeoutSeconds') ?? 0);
    const timer = seconds > 0 ? setTimeout(() => this.end(), seconds * 1000) : undefined;
    response.on('close', () => {
      clearTimeout(timer);
      store.watchers.delete(this.#onEvent);
    });
  }

  /** Ends the watch in order, as the API does after its time. */
  end(): void {
    this.#response.end();
  }

  reset(): void {
    this.#response.destroy();
  }

  /** A line that is cut in the middle, and the end. */
  cut(): void {
    this.#response.end('{"type":"MODIFIED","object":{"kind":"Lea');
  }

  /** The version that this watch follows is gone: an ERROR event, and the end. */
  expire(): void {
    const gone = refusal(410, 'The resourceVersion for the provided watch is too old.');
    this.error(statusObject(gone));
  }

  /** An ERROR event with that object, and the end. */
  error(object: object): void {
    this.#line({ type: 'ERROR', object });
    this.end();
  }

  bookmark(): void {
    const metadata = { resourceVersion: String(this.#store.revision), creationTimestamp: null };
    this.#line({
      type: 'BOOKMARK',
      object: { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec: {} },
    });
  }

  #send({ type, object, before }: LeaseEvent): void {
    if (!inNamespace(object.metadata, this.#namespace)) return;
    const is = type !== 'DELETED' && this.#matches(object);
    const was = before !== undefined && this.#matches(before);
    if (is) this.#line({ type: was ? 'MODIFIED' : 'ADDED', object });
    else if (was) this.#line({ type: 'DELETED', object });
  }

  #matches(lease: KubeLease): boolean {
    return this.#selector(lease.metadata.labels ?? {});
  }

  #line(event: { type: string; object: object }): void {
    this.#response.write(`${JSON.stringify(event)}\n`);
  }
}
