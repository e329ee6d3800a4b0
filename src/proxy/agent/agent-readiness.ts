import { checkList, type HealthCheck } from '../ops/health-check.ts';
import type { ProxyAgent } from './proxy-agent.ts';

/**
 * Whether the agent has a healthy stream to a server. A leaving agent stays ready while it has: some manifests use
 * readiness for liveness, and a failure would kill what still runs over it. Its state is said in the text.
 */
export function agentReadiness(agent: ProxyAgent, verbose: boolean): { ready: boolean; text: string } {
  const streams = agent.healthyStreams;
  const ready = streams > 0;
  const leaving = leavingNote(agent);
  if (ready && !verbose) return { ready, text: leaving === '' ? 'ok' : `ok: ${leaving}` };
  const connected = ready ? `${streams} of ${agent.servers.serverCount} servers` : whyNot(agent);
  const checks: HealthCheck[] = [
    { name: 'ping', ok: true, note: '' },
    { name: 'server-connected', ok: ready, note: connected },
    { name: 'draining', ok: true, note: leaving === '' ? 'no' : leaving },
  ];
  return { ready, text: checkList(checks, ready) };
}

function leavingNote(agent: ProxyAgent): string {
  const since = agent.leavingSince;
  if (since === undefined) return '';
  const { tunnels, pendingDials } = agent.status;
  return `leaving (since ${since.toISOString()}, ${tunnels} tunnels and ${pendingDials} dials left)`;
}

function whyNot(agent: ProxyAgent): string {
  const silent = [...agent.servers.links.keys()];
  if (silent.length > 0) return `no answer from ${silent.slice(0, 5).join(', ')}`;
  return agent.lastFault === undefined ? 'not connected yet' : agent.lastFault.line;
}
