import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type AdminPlaces, adminAddresses } from '../../src/commands/admin-target.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';

describe('the servers that are asked', () => {
  let root: string;
  const servers: Server[] = [];
  const places = (more: Partial<AdminPlaces> = {}): AdminPlaces => ({
    uid: process.getuid?.() ?? 0,
    env: { XDG_RUNTIME_DIR: join(root, 'run') },
    temporary: join(root, 'tmp'),
    system: join(root, 'system'),
    runtimeParent: join(root, 'users'),
    ...more,
  });
  const listen = async (path: string): Promise<void> => {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
  };
  const refusal = async (promise: Promise<unknown>): Promise<Fault> => {
    const fault = await promise.then(
      () => assert.fail('it was not refused'),
      (error: unknown) => error,
    );
    assert.ok(fault instanceof Fault);
    return fault;
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'kts-target-'));
    for (const name of ['system', 'run/konnectivity-ts', 'tmp', 'users'])
      mkdirSync(join(root, name), { recursive: true });
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
    rmSync(root, { recursive: true });
  });

  it('are those of --admin, over the environment, over the default', async () => {
    await listen(join(root, 'system/admin.sock'));
    const env = { KONNECTIVITY_TS_ADMIN: 'unix:///from/env.sock' };
    assert.deepEqual(await adminAddresses({ admin: 'cp-1:8091, /a.sock,cp-1:8091' }, places({ env })), [
      'cp-1:8091',
      'unix:///a.sock',
    ]);
    assert.deepEqual(await adminAddresses({}, places({ env })), ['unix:///from/env.sock']);
    assert.deepEqual(await adminAddresses({}, places()), [`unix://${root}/system/admin.sock`]);
    assert.equal((await refusal(adminAddresses({ admin: ' ,' }, places()))).code, 'flag-value');
  });

  it('are the one live socket, whatever stale ones are beside it', async () => {
    await listen(join(root, 'system/admin.sock'));
    const { spawnSync } = await import('node:child_process');
    const stale = join(root, 'run/konnectivity-ts/admin.sock');
    const code = `require('net').createServer().listen(${JSON.stringify(stale)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', code]);
    assert.deepEqual(await adminAddresses({}, places()), [`unix://${root}/system/admin.sock`]);
  });

  it('are not chosen among several live ones: they are listed', async () => {
    await listen(join(root, 'system/admin.sock'));
    await listen(join(root, 'system/admin-cp-2.sock'));
    const fault = await refusal(adminAddresses({}, places()));
    assert.equal(fault.code, 'admin-several');
    const all = ['admin-cp-2.sock', 'admin.sock'].map((name) => `unix://${root}/system/${name}`);
    assert.ok(fault.line.includes(all.join(', ')));
    assert.ok(fault.line.endsWith(`--admin ${all.join(',')}`));
  });

  it('are told with all that was tried when there is none', async () => {
    const fault = await refusal(adminAddresses({}, places({ uid: 4_711, env: {} })));
    assert.equal(fault.code, 'admin-none');
    assert.match(fault.line, /tried .*tmp\/konnectivity-ts-4711 \(not there\), .*system \(/);
    assert.match(fault.line, /--admin unix:\/\/\/path\/to\/admin\.sock or --admin HOST:PORT/);
  });

  it('are those of all users for root alone', async () => {
    mkdirSync(join(root, 'users/1000/konnectivity-ts'), { recursive: true });
    await listen(join(root, 'users/1000/konnectivity-ts/admin.sock'));
    assert.equal((await refusal(adminAddresses({}, places({ uid: 4_711 })))).code, 'admin-none');
    assert.deepEqual(await adminAddresses({}, places({ uid: 0, env: {} })), [
      `unix://${root}/users/1000/konnectivity-ts/admin.sock`,
    ]);
    chmodSync(root, 0o700);
  });
});
