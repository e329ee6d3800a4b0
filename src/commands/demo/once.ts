import type { CommandIo } from '../io.ts';
import { formatTable } from '../table.ts';
import { hostOf } from './agent-process.ts';
import { requestThrough } from './request.ts';
import type { Scene } from './scene.ts';

/** `demo --once`: one request through each agent by each frontend. @returns the exit code @throws Fault */
export async function runOnce(scene: Scene, io: CommandIo): Promise<number> {
  const rows: string[][] = [];
  const wrong: string[] = [];
  for (const id of scene.agents.keys()) {
    for (const via of [scene.unix, scene.tls]) {
      const host = hostOf(id);
      const answer = await requestThrough(scene, { via, host, path: `/once`, signal: io.interrupted });
      rows.push([
        answer.agentId,
        via.kind === 'unix' ? 'Unix socket' : 'mTLS',
        `${host}:${scene.target.port}`,
        String(answer.status),
        String(answer.bytes),
        `${answer.ms.toFixed(1)} ms`,
      ]);
      if (answer.agentId !== id) wrong.push(`${host} was served by ${answer.agentId} instead of ${id}`);
      if (answer.status !== 200) wrong.push(`${host} answered with status ${answer.status}`);
    }
  }
  io.stdout.write(formatTable(['AGENT', 'FRONTEND', 'DESTINATION', 'STATUS', 'BYTES', 'TIME'], rows));
  for (const line of wrong) io.stderr.write(`konnectivity-ts: ${line}\n`);
  return wrong.length === 0 ? 0 : 1;
}
