import assert from 'node:assert/strict';
import { it } from 'node:test';
import { freePort } from '../../src/commands/demo/free-port.ts';

it('a free port is given once, also while nothing listens on it yet', async () => {
  const port = await freePort();
  await assert.rejects(freePort({ least: port, most: port + 1 }), { code: 'no-free-port' });
});
