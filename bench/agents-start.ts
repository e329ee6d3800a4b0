import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Agent } from '../src/proxy/admin/model/agent.ts';
import { GrpcHost } from '../src/proxy/admin/service/grpc-host.ts';
import { registerAdmin } from '../src/proxy/admin/service/register-admin.ts';

const AGENTS = [1, 1_000];
const ROUNDS = 15;
const GOAL_MS = 250;

/** `agents-start`: how long `konnectivity-ts agents` takes from its start to its end, from the bundle in dist/. */
export async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kts-bench-'));
  try {
    for (const count of AGENTS) {
      const path = join(directory, `${count}.sock`);
      const close = await serveAgents(path, count);
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) times.push(await oneRun(path, count));
      await close();
      times.sort((a, b) => a - b);
      const median = times[times.length >> 1] ?? 0;
      const range = `${times[0]?.toFixed(0)} to ${times.at(-1)?.toFixed(0)} ms`;
      const verdict = median < GOAL_MS ? 'met' : 'missed';
      console.log(
        `agents, ${count} of them: median ${median.toFixed(0)} ms (${range}, ${ROUNDS} runs); goal ${GOAL_MS} ms: ${verdict}`,
      );
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function oneRun(path: string, count: number): Promise<number> {
  const start = performance.now();
  const { stdout } = await promisify(execFile)(process.execPath, [
    'bin/konnectivity-ts.js',
    'agents',
    '--admin',
    `unix://${path}`,
  ]);
  const ms = performance.now() - start;
  const rows = stdout.trimEnd().split('\n').length - 1;
  if (rows !== count) throw new Error(`it printed ${rows} agents instead of ${count}`);
  return ms;
}

/** An admin service with made-up agents, so that the command alone is measured. */
async function serveAgents(path: string, count: number): Promise<() => Promise<void>> {
  const host = new GrpcHost();
  const agents = Array.from({ length: count }, (_, index) =>
    agentOf(`node-${String(index).padStart(5, '0')}`),
  );
  registerAdmin(
    host.server,
    {
      GetServer: () => ({ id: 'bench', epoch: 'one', serverCount: 1 }) as never,
      ListAgents: () => ({ agents, nextPageToken: '', revision: 1, epoch: 'one' }) as never,
    },
    {
      caller: () => ({ name: '', claimed: true, role: 'operator', remote: 'unix' }),
      onBug: (_, error) => {
        throw error;
      },
    },
  );
  const listener = createServer((socket) => host.accept(socket));
  await new Promise<void>((resolve) => listener.listen(path, resolve));
  return async () => {
    listener.close();
    await host.close();
  };
}

function agentOf(id: string): Partial<Agent> {
  return {
    id,
    state: 'ready',
    kind: 'ts',
    version: '0.1.0',
    identifiers: [{ kind: 'host', value: id }],
    serverIds: ['bench'],
    serverCount: 1,
    tunnels: 3,
  };
}
