import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import { openAdminClient } from '../../proxy/admin/client/open-admin-client.ts';
import type { Agent, AgentState } from '../../proxy/admin/model/agent.ts';
import { Fault } from '../../proxy/ops/fault.ts';
import type { CommandIo } from '../io.ts';
import { type AgentProcess, hostOf } from './agent-process.ts';
import { type Download, startDownload } from './download.ts';
import type { Scene } from './scene.ts';
import { countsText, Traffic } from './traffic.ts';

const BYTES_PER_SECOND = 256 * 1024;
const REQUESTS_EVERY_MS = 150;
const LEAVE_TIMEOUT_MS = 20_000;
const DRAINED = 'demo-b';

/**
 * `demo --story drain`: an agent is drained by an order while a download runs through it, and stopped when it is drained.
 * @param seconds how long to take for it
 * @returns 0, or 1 when something did not happen as told
 * @throws Fault
 */
export async function tellDrainStory(scene: Scene, seconds: number, io: CommandIo): Promise<number> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, io.interrupted]);
  const startMs = performance.now();
  const say = (text: string): void => {
    const at = Math.floor((performance.now() - startMs) / 1000);
    const clock = `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;
    io.stdout.write(`${clock}  ${text}\n`);
  };
  const agent = scene.agents.get(DRAINED) as AgentProcess;
  const traffic = new Traffic(scene, {
    everyMs: REQUESTS_EVERY_MS,
    // Half of the dials ask for what the drained agent serves.
    hosts: ['127.0.0.1', hostOf(DRAINED)],
    signal,
    onFailure: (fault) => say(`A REQUEST FAILED: ${fault.line}`),
  });
  const running = traffic.run();
  const admin = openAdminClient(scene.adminAddress, { actor: 'demo' });
  const wait = (part: number): Promise<void> => sleep(seconds * 1000 * part, undefined, { signal });
  const wrong: string[] = [];
  try {
    say('A server and three agents run. Requests go through all of them; every second one asks for');
    say(`${hostOf(DRAINED)}, which is ${DRAINED}'s: it is preferred for that.`);
    await wait(0.15);
    say(`Requests so far:      ${countsText(scene, traffic.takeCounts())}`);
    const download = startDownload(
      scene,
      DRAINED,
      Math.round(seconds * 0.6) * BYTES_PER_SECOND,
      BYTES_PER_SECOND,
      signal,
    );
    const by = await download.begun;
    say(`A download of ${mib(download.totalBytes)} MiB begins through ${by}. It is slow: it takes a while.`);
    if (by !== DRAINED) wrong.push(`the download went through ${by}`);
    await wait(0.1);
    say(`Now ${DRAINED} is drained: konnectivity-ts drain ${DRAINED}`);
    await admin.drain({ agentIds: [DRAINED], reason: 'a story of the demo' }, signal);
    await seenAs('draining', admin, signal);
    traffic.takeCounts();
    say(`The server knows: new dials go to others, those for ${hostOf(DRAINED)} as well.`);
    const late = await watchDownload(scene, download, traffic, say, () => wait(0.1));
    if (late > 0) wrong.push(`${late} dials went to ${DRAINED} after the order`);
    const { whole, bytes } = await download.ended;
    say(
      `The download ended: ${bytes} of ${download.totalBytes} bytes, ${whole ? 'each as it was sent' : 'DAMAGED'}.`,
    );
    if (!whole) wrong.push('the download was not whole');
    const { safeToStop } = await seenAs('drained', admin, signal);
    say(
      `The order stands, and nothing is left of it: ${DRAINED} is drained${safeToStop ? ', safe to stop' : ''}.`,
    );
    if (!safeToStop) wrong.push(`${DRAINED} was drained, and not safe to stop`);
    say(`So its process may end: kill -TERM ${agent.pid}`);
    agent.terminate();
    const code = await exitOf(agent, signal);
    say(`${DRAINED} left by itself, with exit code ${code}.`);
    if (code !== 0) wrong.push(`${DRAINED} ended with exit code ${code}`);
    await wait(0.2);
    say(`Requests since then:  ${countsText(scene, traffic.takeCounts())}`);
    if (traffic.failures > 0) wrong.push(`${traffic.failures} requests failed`);
    say(wrong.length === 0 ? 'Nobody lost anything. The end.' : `This went wrong: ${wrong.join('; ')}`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    stop.abort();
    admin.close();
    await running;
  }
}

/** Reports now and then until the download ends. @returns dials that went to the draining agent */
async function watchDownload(
  scene: Scene,
  download: Download,
  traffic: Traffic,
  say: (text: string) => void,
  pause: () => Promise<void>,
): Promise<number> {
  let late = 0;
  let running = true;
  const ended = download.ended.finally(() => {
    running = false;
  });
  for (;;) {
    await Promise.race([pause(), ended]);
    const counts = traffic.takeCounts();
    late += counts.get(DRAINED) ?? 0;
    if (!running) return late;
    const done = Math.floor((100 * download.receivedBytes) / download.totalBytes);
    say(`Requests since then:  ${countsText(scene, counts)}   (download: ${done} %)`);
  }
}

/** Resolves with the agent when the server shows it in that state. @throws Fault, or the signal's reason */
async function seenAs(state: AgentState, admin: AdminClient, signal: AbortSignal): Promise<Agent> {
  const request = { intervalSeconds: 0.1, ratesFor: [], only: [DRAINED] };
  for await (const { changed } of admin.watchAgents(request, signal)) {
    const agent = changed.find(({ id }) => id === DRAINED);
    if (agent?.state === state) return agent;
  }
  signal.throwIfAborted();
  throw new Fault('failed', `the server stopped telling of ${DRAINED}`);
}

async function exitOf(agent: AgentProcess, signal: AbortSignal): Promise<number> {
  const timeout = sleep(LEAVE_TIMEOUT_MS, undefined, { signal, ref: false });
  const code = await Promise.race([agent.exited, timeout]);
  if (typeof code === 'number') return code;
  throw new Fault('agent-stays', `${agent.id} did not leave within ${LEAVE_TIMEOUT_MS / 1000} s`);
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
