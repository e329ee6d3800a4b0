import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { ProxyAgent } from './proxy-agent.ts';

const PREFIX = 'konnectivity_network_proxy_agent_';

/** The agent's metrics under upstream's names, read from its counters when they are scraped. */
export function agentMetrics(agent: ProxyAgent): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name: PREFIX + name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  };
  gauge('open_server_connections', 'Streams to servers.', () => agent.servers.links.size);
  gauge(
    'known_server_count',
    'How many servers there are, as the servers say.',
    () => agent.servers.serverCount,
  );
  gauge('open_endpoint_connections', 'Open connections to destinations.', () => agent.counts.openEndpoints);
  new Counter({
    name: `${PREFIX}endpoint_dial_failure_total`,
    help: 'Failed dials by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      this.inc({ reason: 'timeout' }, agent.counts.timedOutDials);
      this.inc({ reason: 'unknown' }, agent.counts.failedDials - agent.counts.timedOutDials);
    },
  });
  return registry;
}
