import { openKubeApi } from '../proxy/kubernetes/kube-api.ts';
import { LeaseController } from '../proxy/kubernetes/lease-controller.ts';
import { defaultLeaseTimes } from '../proxy/kubernetes/lease-times.ts';
import { Leases } from '../proxy/kubernetes/leases.ts';
import { systemClock } from '../proxy/ops/clock.ts';
import type { Log } from '../proxy/ops/log.ts';
import type { ProxyServer } from '../proxy/server/proxy-server.ts';
import type { ServeOptions } from './flags/serve-options.ts';
import type { CommandIo } from './io.ts';

/**
 * The lease controller of a server, if there is to be one; the caller starts, stops and closes it.
 * @throws Fault when it is not known where the Kubernetes API is; that it is down is no reason not to start
 */
export async function openLeases(
  options: ServeOptions,
  io: CommandIo,
  server: ProxyServer,
  log: Log,
): Promise<{ readonly controller: LeaseController; close(): void } | undefined> {
  const { leases, kube, serverId } = options;
  if (leases === undefined) return undefined;
  const api = await openKubeApi({ kubeconfig: kube.kubeconfig, env: io.env }, kube);
  const controller = new LeaseController({
    leases: new Leases(api, leases.namespace),
    serverId,
    labels: leases.labels,
    times: defaultLeaseTimes,
    clock: systemClock,
    log: log.named('leases'),
    metrics: server.metrics.leases,
  });
  return { controller, close: () => api.close() };
}
