import assert from 'node:assert/strict';
import { Agent, request } from 'node:https';
import { places } from './settings.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** kube-apiserver, spoken to as the administrator. */
export class Api {
  readonly #agent: Agent;

  constructor(ca: string) {
    this.#agent = new Agent({ ca, keepAlive: true });
  }

  request(
    method: string,
    path: string,
    body?: Buffer | object,
    type = 'application/json',
  ): Promise<ApiAnswer> {
    const payload = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const headers: Record<string, string | number> = { authorization: 'Bearer admin-token' };
    if (payload !== undefined)
      Object.assign(headers, { 'content-type': type, 'content-length': payload.length });
    const where = {
      host: '127.0.0.1',
      port: places.ports.apiserver,
      path,
      method,
      headers,
      agent: this.#agent,
    };
    return new Promise((resolve, reject) => {
      const asked = request(where, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
        response.on('error', reject);
      });
      asked.on('error', reject);
      asked.end(payload);
    });
  }

  /** The parsed answer, which must be a success. */
  async json<T>(method: string, path: string, body?: object, type?: string): Promise<T> {
    const answer = await this.request(method, path, body, type);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body.toString()) as T;
  }

  /** The body, which must come with 200. */
  async get(path: string): Promise<Buffer> {
    const { status, body } = await this.request('GET', path);
    assert.equal(status, 200, `${path}: ${body}`);
    return body;
  }

  /** A token of a service account. */
  async token(namespace: string, account: string, audience?: string, pod?: { name: string; uid: string }) {
    const spec = {
      ...(audience === undefined ? {} : { audiences: [audience] }),
      expirationSeconds: 3600,
      ...(pod === undefined ? {} : { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', ...pod } }),
    };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const { status } = await this.json<{ status: { token: string } }>('POST', path, { spec });
    return status.token;
  }

  close(): void {
    this.#agent.destroy();
  }
}
