import type { ProxyAgent } from './proxy-agent.ts';

/**
 * Whether the agent has a healthy stream to a server. A leaving agent stays ready while it has: some manifests use
 * readiness for liveness, and a failure would kill what still runs over it. Its state is said in the text.
 */
export function agentReadiness(agent: ProxyAgent, verbose: boolean): { ready: boolean; text: string } {
  const streams = agent.healthyStreams;
  const ready = streams > 0;
  const since = agent.leavingSince;
  const { tunnels, pendingDials } = agent.status;
  const notes: string[] = [];
  if (since !== undefined) {
    notes.push(`leaving (since ${since.toISOString()}, ${tunnels} tunnels and ${pendingDials} dials left)`);
  }
  if (!ready) notes.push(whyNot(agent));
  if (ready && !verbose) return { ready, text: notes.length === 0 ? 'ok' : `ok: ${notes.join('; ')}` };
  const check = ready
    ? `[+]server-connected ok (${streams} of ${agent.servers.serverCount} servers)`
    : '[-]server-connected failed';
  const lines = [
    check,
    ...notes.map((note) => `   ${note}`),
    ready ? 'readyz check passed' : 'readyz check failed',
  ];
  return { ready, text: `${lines.join('\n')}\n` };
}

function whyNot(agent: ProxyAgent): string {
  const silent = [...agent.servers.links.keys()];
  if (silent.length > 0) return `no answer from ${silent.slice(0, 5).join(', ')}`;
  return agent.lastFault === undefined ? 'not connected yet' : agent.lastFault.line;
}
