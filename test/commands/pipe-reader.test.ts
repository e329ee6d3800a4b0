import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { OperatorWorld } from '../peers/operator-world.ts';

/** Linux alone says it before the next write. */
describe('a watch of which nobody reads the output', { skip: process.platform !== 'linux' }, () => {
  let world: OperatorWorld;

  before(async () => {
    world = await OperatorWorld.start(['cp-1'], ['node-a']);
    const { code } = await world.run(['drain', 'node-a', '--force', '--no-wait']).ended;
    assert.equal(code, 0);
  });
  after(() => world.close());

  for (const command of [
    'agents --watch',
    'agents --watch -o json',
    'tunnels --watch',
    'drains --watch',
    'events --follow --since 1h',
  ]) {
    it(`ends without another change: ${command} | head -n 1`, async () => {
      // The exit code of the first command, after its reader read one line.
      const line = `{ "$0" bin/konnectivity-ts.js ${command}; echo "$?" >&2; } | head -n 1`;
      const shell = spawn('/bin/sh', ['-c', line, process.execPath], {
        env: { ...process.env, KONNECTIVITY_TS_ADMIN: world.sockets[0] },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      let said = '';
      shell.stdout.on('data', (chunk) => (out += String(chunk)));
      shell.stderr.on('data', (chunk) => (said += String(chunk)));
      await once(shell, 'close');
      assert.equal(out.match(/\n/g)?.length, 1);
      assert.equal(said, '0\n');
    });
  }
});
