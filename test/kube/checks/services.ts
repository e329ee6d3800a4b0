import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { routesToEndpoints } from '../control-plane.ts';
import { until } from '../until.ts';
import { pattern, sha256 } from './pattern.ts';

const DOWN = 10_000_000;
const UP = 8 * 1024 * 1024;
const DEFAULT = '/api/v1/namespaces/default';

/** What kube-apiserver proxies, forwards and asks. */
export function services(cluster: Cluster): void {
  for (const [name, path] of [
    ['service', `${DEFAULT}/services/plain:8080/proxy`],
    ['pod', `${DEFAULT}/pods/x:8080/proxy`],
  ] as const) {
    it(`the ${name} proxy brings 10 MB`, async () => {
      const body = await cluster.api.get(`${path}/big?n=${DOWN}`);
      assert.equal(sha256(body), sha256(pattern(DOWN)));
    });

    it(`the ${name} proxy takes 8 MiB`, async () => {
      const bytes = randomBytes(UP);
      const { status, body } = await cluster.api.request(
        'POST',
        `${path}/sha256`,
        bytes,
        'application/octet-stream',
      );
      assert.deepEqual([status, body.toString().trim()], [200, `${sha256(bytes)} ${UP}`]);
    });
  }

  it('the node proxy reaches the kubelet', async () => {
    const body = await cluster.api.get('/api/v1/nodes/node-a/proxy/pods');
    assert.equal(body.toString(), 'fake kubelet GET /pods\n');
  });

  for (const websockets of ['true', 'false']) {
    it(`port-forward, ${websockets === 'true' ? 'by WebSocket' : 'by SPDY'}`, async () => {
      let fetched: Promise<Buffer> | undefined;
      const { stderr } = await cluster.kubectl(['port-forward', 'pod/x', ':8080', '--address=127.0.0.1'], {
        env: { KUBECTL_PORT_FORWARD_WEBSOCKETS: websockets },
        onOutput: (text, interrupt) => {
          const port = /127\.0\.0\.1:(\d+) -> 8080/.exec(text)?.[1];
          if (port !== undefined) fetched ??= fetchBody(Number(port)).finally(interrupt);
        },
      });
      assert.ok(fetched, stderr);
      assert.equal(sha256(await fetched), sha256(pattern(1_000_000)));
    });
  }

  it('an aggregated API gets available and is listed', async () => {
    interface ApiService {
      status?: { conditions?: { type: string; status: string }[] };
    }
    await until('the APIService is available', async () => {
      const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.demo.example.com';
      const { status } = await cluster.api.json<ApiService>('GET', path);
      return status?.conditions?.some((one) => one.type === 'Available' && one.status === 'True') ?? false;
    });
    const body = await cluster.api.get('/apis/demo.example.com/v1/namespaces/default/widgets');
    assert.match(body.toString(), /"name":"one"/);
  });

  // By a service, by an ExternalName service, which makes the destination a name, and by a URL.
  for (const hook of ['svc', 'ext', 'url']) {
    const unsupported = hook === 'ext' && routesToEndpoints(cluster.mode);
    const skip = unsupported ? 'kube-apiserver that routes to endpoints takes no ExternalName' : false;
    it(`an admission webhook (${hook}) allows and denies`, { skip }, async () => {
      const make = (name: string) =>
        cluster.api.request('POST', `${DEFAULT}/configmaps`, { metadata: { name, labels: { hook } } });
      const allowed = await make(`fine-${hook}`);
      assert.equal(allowed.status, 201, allowed.body.toString());
      const denied = await make(`deny-${hook}`);
      assert.equal(denied.status, 403, denied.body.toString());
      assert.match(denied.body.toString(), /denied by fake webhook/);
    });
  }
}

function fetchBody(port: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/big?n=1000000', agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks)));
      response.on('error', reject);
    }).on('error', reject);
  });
}
