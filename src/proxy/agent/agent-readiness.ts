import { checkList, type HealthCheck } from '../ops/health-check.ts';
import { oneLine } from '../ops/safe-text.ts';
import type { ProxyAgent } from './proxy-agent.ts';

/**
 * Whether the agent has a healthy stream to a server. A draining agent stays ready while it has: some manifests use
 * readiness for liveness, and a failure would kill what still runs over it. Its state is said in the text.
 */
export function agentReadiness(agent: ProxyAgent, verbose: boolean): { ready: boolean; text: string } {
  const streams = agent.healthyStreams;
  const ready = streams > 0;
  const drain = drainNote(agent);
  if (ready && !verbose) return { ready, text: drain === '' ? 'ok' : `ok: ${drain}` };
  const connected = ready ? `${streams} of ${agent.servers.serverCount} servers` : whyNot(agent);
  const checks: HealthCheck[] = [
    { name: 'ping', ok: true, note: '' },
    { name: 'server-connected', ok: ready, note: connected },
    { name: 'draining', ok: true, note: drain === '' ? 'no' : drain },
  ];
  return { ready, text: checkList(checks, ready) };
}

/** Leaving wins: an order can be ended, leaving cannot. */
function drainNote(agent: ProxyAgent): string {
  const { leavingSince, status } = agent;
  const { order } = status;
  const left = `${status.tunnels} tunnels and ${status.pendingDials} dials left`;
  if (leavingSince !== undefined) return `leaving (since ${leavingSince.toISOString()}, ${left})`;
  if (order === null) return '';
  const actor = order.actor === '' ? 'somebody' : oneLine(order.actor, 100);
  const since = order.sinceUnixMs === 0 ? '' : ` since ${new Date(order.sinceUnixMs).toISOString()}`;
  return `draining (order ${order.id} by ${actor}${order.actorClaimed ? ' (claimed)' : ''}${since}, ${left})`;
}

function whyNot(agent: ProxyAgent): string {
  const silent = [...agent.servers.links.keys()];
  if (silent.length > 0) return `no answer from ${silent.slice(0, 5).join(', ')}`;
  return agent.lastFault === undefined ? 'not connected yet' : agent.lastFault.line;
}
