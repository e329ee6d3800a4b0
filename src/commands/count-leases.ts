import type { AgentLeaseMetrics } from '../proxy/agent/lease-metrics.ts';
import type { ProxyAgent } from '../proxy/agent/proxy-agent.ts';
import type { KubeApi } from '../proxy/kubernetes/kube-api.ts';
import { defaultLeaseCounterTimes, LeaseCounter } from '../proxy/kubernetes/lease-counter.ts';
import { Leases } from '../proxy/kubernetes/leases.ts';
import { systemClock } from '../proxy/ops/clock.ts';
import type { Log } from '../proxy/ops/log.ts';
import type { AgentOptions } from './flags/validate-agent.ts';

/** Tells the agent how many Leases of servers are valid, if that is asked for. The result ends it. */
export function countLeases(
  { leases }: AgentOptions,
  api: KubeApi | undefined,
  proxyAgent: ProxyAgent,
  metrics: AgentLeaseMetrics,
  log: Log,
): () => Promise<void> {
  if (leases === undefined || api === undefined) return async () => {};
  const counter = new LeaseCounter({
    leases: new Leases(api, leases.namespace),
    selector: leases.selector,
    times: defaultLeaseCounterTimes,
    clock: systemClock,
    log: log.named('leases'),
    metrics,
    onChange: (count) => proxyAgent.servers.countedLeases(count),
  });
  const stop = new AbortController();
  const running = counter.run(stop.signal);
  return async () => {
    stop.abort(new Error('stopping'));
    await running;
  };
}
