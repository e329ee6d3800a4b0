import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { promisify } from 'node:util';
import type { Cluster } from '../cluster.ts';
import { until } from '../until.ts';

interface Carried {
  readonly agent: string;
  readonly destination: string;
}

/** An operator drains the agent that carries a long exec. */
export function drain(cluster: Cluster): void {
  const operator = async (...args: string[]): Promise<string> => {
    const command = ['bin/konnectivity-ts.js', ...args, '--admin', `unix://${cluster.proxies.adminSocket}`];
    return (await promisify(execFile)(process.execPath, command)).stdout;
  };
  const tunnels = async (...args: string[]): Promise<readonly Carried[]> =>
    JSON.parse(await operator('tunnels', ...args, '-o', 'json')) as Carried[];
  const state = async (agent: string): Promise<string | undefined> => {
    const agents = JSON.parse(await operator('agents', '-o', 'json')) as { id: string; state: string }[];
    return agents.find(({ id }) => id === agent)?.state;
  };

  it('an exec runs on through a drain of its agent, new ones use the other, and it ends drained', async () => {
    cluster.proxies.startAgent(2);
    await until('both agents are ready', async () => {
      const states = await Promise.all([state('agent-1'), state('agent-2')]);
      return states.every((one) => one === 'ready');
    });
    const endedBefore = (await tunnels('--closed')).length;
    let started = (): void => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const long = cluster.kubectl(['exec', '-i', 'x', '--', 'cat'], {
      stdin: 'held open',
      onOutput: started,
      holdMs: 6_000,
    });
    await running;
    // Oldest first: kube-apiserver keeps others for logs.
    const carrier = (await tunnels()).findLast(({ destination }) => destination.endsWith(':10250'))?.agent;
    assert.ok(carrier);
    await operator('drain', carrier, '--reason', 'kernel patch', '--no-wait');
    assert.equal(await state(carrier), 'draining');
    for (let i = 0; i < 5; i++) {
      assert.equal(await cluster.output(['exec', 'loop', '--', 'echo', `${i}`]), `${i}\n`);
    }
    const ended = await tunnels('--closed');
    const others = ended.slice(0, ended.length - endedBefore).map(({ agent }) => agent);
    assert.ok(others.length >= 5, `${others.length} tunnels ended`);
    assert.ok(!others.includes(carrier), `of ${others.join(' ')} none is ${carrier}`);
    const { code, stdout, stderr } = await long;
    assert.equal(code, 0, stderr);
    assert.equal(stdout.toString(), 'held open');
    // Those that kube-apiserver keeps never end by themselves.
    await operator('drain', carrier, '--close-quiet', '1s', '--timeout', '60s', '--yes');
    assert.equal(await state(carrier), 'drained');
    await operator('undrain', carrier);
    assert.equal(await state(carrier), 'ready');
    await cluster.proxies.stopAgent(2);
  });
}
