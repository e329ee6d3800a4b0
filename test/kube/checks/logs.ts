import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { until } from '../until.ts';
import { pattern, sha256 } from './pattern.ts';

const BIG = 64 * 1024 * 1024;

/** kubectl logs. */
export function logs(cluster: Cluster): void {
  for (const [pod, where] of [
    ['x', 'on an address of its own'],
    ['loop', 'on 127.0.0.1'],
  ] as const) {
    it(`logs of a node ${where}`, async () => {
      assert.match(await cluster.output(['logs', pod]), new RegExp(`hello from fake kubelet pod=${pod} `));
    });
  }

  it('64 MiB of log arrive whole', async () => {
    const { code, stdout, stderr } = await cluster.kubectl(['logs', 'big']);
    assert.equal(code, 0, stderr);
    assert.equal(stdout.length, BIG);
    assert.equal(sha256(stdout), sha256(pattern(BIG)));
  });

  it('logs -f that is aborted ends at the kubelet too', async () => {
    const ends = (): number => cluster.kubelet.log.split('logs -f: client gone').length;
    const before = ends();
    const { stdout } = await cluster.kubectl(['logs', '-f', 'x'], {
      onOutput: (text, interrupt) => {
        if (text.includes('line 0')) interrupt();
      },
    });
    assert.match(stdout.toString(), /hello/);
    await until('the kubelet sees the end', () => ends() > before);
  });

  it('logs of a node that refuses tell why', async () => {
    const { code, stderr } = await cluster.kubectl(['logs', 'dead']);
    assert.equal(code, 1);
    // Of a CONNECT answer kube-apiserver passes on the status line alone.
    assert.match(stderr, cluster.mode === 'grpc-uds' ? /connection refused/ : /code 50[02]/);
  });
}
