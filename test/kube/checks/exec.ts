import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import type { Cluster } from '../cluster.ts';
import { pattern, sha256 } from './pattern.ts';

const OUT = 20_000_000;
const IN = 8 * 1024 * 1024;

/** kubectl exec and attach, with both protocols on both halves of the way. */
export function exec(cluster: Cluster): void {
  for (const [protocol, websockets] of [
    ['WebSocket', 'true'],
    ['SPDY', 'false'],
  ] as const) {
    const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: websockets };
    for (const [pod, kubelet] of [
      ['x', 'SPDY'],
      ['ws', 'WebSocket'],
    ] as const) {
      const name = `by ${protocol}, to a kubelet with ${kubelet}`;
      const run = (command: string[], stdin?: Buffer) =>
        cluster.kubectl(['exec', ...(stdin ? ['-i'] : []), pod, '--', ...command], {
          env,
          ...(stdin ? { stdin } : {}),
        });

      it(`exec ${name}: 20 MB out`, async () => {
        const { code, stdout, stderr } = await run(['gen', String(OUT)]);
        assert.equal(code, 0, stderr);
        assert.equal(stdout.length, OUT);
        assert.equal(sha256(stdout), sha256(pattern(OUT)));
      });

      it(`exec ${name}: 8 MiB in`, async () => {
        const bytes = randomBytes(IN);
        const { code, stdout, stderr } = await run(['sha256'], bytes);
        assert.equal(code, 0, stderr);
        assert.equal(stdout.toString().trim(), `${sha256(bytes)} ${IN}`);
      });

      it(`exec ${name}: 8 MiB there and back`, async () => {
        const bytes = randomBytes(IN);
        const { code, stdout, stderr } = await run(['cat'], bytes);
        assert.equal(code, 0, stderr);
        assert.equal(sha256(stdout), sha256(bytes));
      });

      it(`exec ${name}: the exit code`, async () => {
        assert.equal((await run(['exit', '7'])).code, 7);
      });

      it(`exec ${name}: stderr`, async () => {
        const { code, stdout, stderr } = await run(['err', 'to', 'stderr']);
        assert.deepEqual([code, stdout.toString(), stderr], [0, '', 'to stderr\n']);
      });

      it(`attach ${name}`, async () => {
        const bytes = randomBytes(4096);
        const { code, stdout, stderr } = await cluster.kubectl(['attach', '-i', pod], { env, stdin: bytes });
        assert.equal(code, 0, stderr);
        assert.equal(sha256(stdout), sha256(bytes));
      });
    }
  }
}
