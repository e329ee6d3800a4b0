import { setTimeout as sleep } from 'node:timers/promises';
import { httpEndpoints } from '../../proxy/ops/http-endpoints.ts';
import type { CommandIo } from '../io.ts';
import { type AgentProcess, lastLine } from './agent-process.ts';
import { DemoScreen } from './demo-screen.ts';
import { keepDownloading } from './downloads.ts';
import { guide, ownCommand } from './guide.ts';
import type { Scene } from './scene.ts';
import { countsText, Traffic } from './traffic.ts';

const REQUESTS_EVERY_MS = 1_000;
const REPORT_EVERY_MS = 10_000;
const RESTART_AFTER_MS = 10_000;

/** `demo`: prints what to do with it and lets it run until a signal. @returns the exit code @throws Fault */
export async function runLive(scene: Scene, io: CommandIo): Promise<number> {
  const stop = new AbortController();
  const signal = AbortSignal.any([io.interrupted, stop.signal]);
  const screen = new DemoScreen(scene, io);
  const say = (text: string): void => {
    if (!signal.aborted) screen.print(`${new Date().toTimeString().slice(0, 8)}  ${text}\n`);
  };
  const { registry } = scene.server.metrics;
  const health = await httpEndpoints('127.0.0.1', 0, 'the health port', {
    '/metrics': async () => ({ status: 200, body: await registry.metrics(), type: registry.contentType }),
    '/readyz': () => {
      const { ready, text } = scene.server.readiness;
      return { status: ready ? 200 : 500, body: `${text}\n` };
    },
  });
  try {
    const command = ownCommand(process.cwd(), process.argv[1] ?? '');
    screen.print(guide(scene, command, health.port, screen.isTerminal));
    const traffic = new Traffic(scene, {
      everyMs: REQUESTS_EVERY_MS,
      hosts: ['127.0.0.1'],
      signal,
      onFailure: (fault) => say(`a request failed: ${fault.line}`),
    });
    for (const agent of scene.agents.values()) void keep(scene, agent, signal, say);
    const running = traffic.run();
    void screen.run(() => stop.abort());
    const downloads = screen.isTerminal ? keepDownloading(scene, signal) : undefined;
    while (!signal.aborted) {
      await sleep(REPORT_EVERY_MS, undefined, { signal }).catch(() => {});
      say(`requests in the last ${REPORT_EVERY_MS / 1000} s: ${countsText(scene, traffic.takeCounts())}`);
    }
    await Promise.all([running, downloads]);
    return 0;
  } finally {
    stop.abort();
    await screen.close();
    await health.close();
  }
}

/** An agent that ended comes back after a while, as a cluster would have it. */
async function keep(
  scene: Scene,
  first: AgentProcess,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<void> {
  let agent = first;
  for (;;) {
    const code = await agent.exited;
    if (signal.aborted) return;
    const why = code === 0 ? 'left: nothing was lost' : `ended with exit code ${code}: ${lastLine(agent)}`;
    say(`${agent.id} ${why}; it comes back in ${RESTART_AFTER_MS / 1000} s`);
    try {
      await sleep(RESTART_AFTER_MS, undefined, { signal });
      agent = await scene.startAgent(agent.id, signal);
      say(`${agent.id} is back, pid ${agent.pid}`);
    } catch (error) {
      if (signal.aborted) return;
      say(`${agent.id} did not come back: ${error instanceof Error ? error.message : String(error)}`);
      agent = scene.agents.get(agent.id) ?? agent;
    }
  }
}
