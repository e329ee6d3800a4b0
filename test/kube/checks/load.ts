import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { pattern, sha256 } from './pattern.ts';

const DEFAULT = '/api/v1/namespaces/default';

/** Many requests at once. */
export function load(cluster: Cluster): void {
  it('500 log requests, 50 at a time', async () => {
    await inParallel(500, 50, async () => {
      const body = await cluster.api.get(`${DEFAULT}/pods/x/log`);
      assert.match(body.toString(), /hello from fake kubelet pod=x /);
    });
  });

  it('200 answers of 1 MB, 100 at a time', async () => {
    const expected = sha256(pattern(1_000_000));
    await inParallel(200, 100, async () => {
      const body = await cluster.api.get(`${DEFAULT}/services/plain:8080/proxy/big?n=1000000`);
      assert.equal(sha256(body), expected);
    });
  });
}

async function inParallel(count: number, width: number, run: () => Promise<void>): Promise<void> {
  let left = count;
  const work = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: width }, work));
}
