import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../src/commands/demo/free-port.ts';
import { FakeKubeApi } from '../peers/fake-kube-api.ts';
import { Inbox } from '../peers/inbox.ts';

const PROGRAM = ['bin/konnectivity-ts.js'];

/** A running command of the real program, and the lines of its stderr. */
class Running {
  readonly lines = new Inbox<string>();
  readonly child: ChildProcess;
  readonly exit: Promise<unknown[]>;

  constructor(args: readonly string[]) {
    // Not in a Pod, whatever this machine is.
    const { KUBERNETES_SERVICE_HOST: _, ...env } = process.env;
    this.child = spawn(process.execPath, [...PROGRAM, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const { stderr } = this.child;
    if (stderr !== null) createInterface(stderr).on('line', (line) => this.lines.push(line));
    this.exit = once(this.child, 'close');
  }

  /** The next line with that text. Rejects when the process ends before. */
  logged(text: string): Promise<string> {
    const ended = this.exit.then((how) => {
      throw new Error(`ended with ${how} before it said "${text}": ${this.lines.all.join('\n')}`);
    });
    return Promise.race([this.lines.next((line) => line.includes(text)), ended]);
  }
}

describe('Leases of the commands', () => {
  const socket = join(tmpdir(), `kts-leases-${process.pid}.sock`);
  const running: Running[] = [];
  let api: FakeKubeApi;
  let serveArgs: (ports: readonly number[]) => string[];
  let agentArgs: (ports: readonly number[]) => string[];

  before(async () => {
    api = await FakeKubeApi.start();
    const ca = await api.pki.authority('agents CA');
    const leaf = await api.pki.server(ca);
    serveArgs = (ports) => [
      'serve',
      `--uds-name=${socket}`,
      '--server-port=0',
      `--cluster-cert=${leaf.certFile}`,
      `--cluster-key=${leaf.keyFile}`,
      '--agent-bind-address=127.0.0.1',
      `--agent-port=${ports[0]}`,
      `--admin-port=${ports[1]}`,
      `--health-port=${ports[2]}`,
      '--server-id=one',
      '--enable-lease-controller',
    ];
    agentArgs = (ports) => [
      'agent',
      `--ca-cert=${ca.certFile}`,
      `--proxy-server-port=${ports[0]}`,
      `--admin-server-port=${ports[3]}`,
      `--health-server-port=${ports[4]}`,
      '--count-server-leases',
    ];
  });
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await api.close();
    rmSync(socket, { force: true });
  });
  const run = (args: readonly string[]): Running => {
    const started = new Running(args);
    running.push(started);
    return started;
  };

  it('serve publishes its Lease, an agent counts it, and a signal takes it back', async () => {
    const ports = await Promise.all([1, 2, 3, 4, 5].map(() => freePort()));
    const kubeconfig = `--kubeconfig=${api.kubeconfig()}`;
    const server = run([...serveArgs(ports), kubeconfig]);
    await server.logged('Published our Lease');
    const [lease] = api.leases.list('kube-system');
    assert.equal(lease?.metadata.name, 'konnectivity-proxy-server-one');
    assert.equal(lease?.spec.holderIdentity, 'one');
    const agent = run([...agentArgs(ports), kubeconfig]);
    assert.match(await agent.logged('Number of servers by their Leases'), /servers=1/);
    api.leases.create('kube-system', {
      metadata: { ...(lease?.metadata as { name: string; namespace: string }), name: 'of-another' },
      spec: { ...lease?.spec },
    });
    assert.match(await agent.logged('Number of servers by their Leases'), /servers=2/);
    agent.child.kill('SIGTERM');
    assert.deepEqual(await agent.exit, [0, null]);
    server.child.kill('SIGTERM');
    assert.deepEqual(await server.exit, [0, null]);
    const left = api.leases.list('kube-system').map(({ metadata }) => metadata.name);
    assert.deepEqual(left, ['of-another']);
  });

  it('neither starts when it is not known where the Kubernetes API is', async () => {
    for (const args of [serveArgs, agentArgs]) {
      const command = run(args([20_001, 20_002, 20_003, 20_004, 20_005]));
      assert.deepEqual(await command.exit, [1, null]);
      const [line, ...more] = command.lines.all;
      assert.match(
        line ?? '',
        /^konnectivity-ts: --kubeconfig is empty, and this process is in no Pod.*give --kubeconfig/,
      );
      assert.deepEqual(more, []);
    }
  });
});
