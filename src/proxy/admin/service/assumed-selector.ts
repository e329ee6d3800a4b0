import type { Backend } from '../../server/backend.ts';
import type { ProxyServer } from '../../server/proxy-server.ts';
import { Selector } from '../../server/selection/selector.ts';
import { StreamRegistry } from '../../server/selection/stream-registry.ts';

/**
 * A selector as the server's own would be if some agents were draining and others gone: the same code over a registry
 * of its own with the same streams and marks. The server's is not touched.
 */
export function assumedSelector(
  server: ProxyServer,
  drained: ReadonlySet<string>,
  gone: ReadonlySet<string>,
): Selector<Backend> {
  const { options, backends } = server;
  let nowMs = 0;
  const registry = new StreamRegistry<Backend>({
    strategies: options.strategies,
    now: () => nowMs,
    secondStreamWaitMs: options.times.secondStreamWaitMs,
  });
  for (const backend of backends.all()) {
    const marks = backends.registry.stateOf(backend);
    if (marks === undefined || gone.has(backend.agentId)) continue;
    nowMs = marks.registeredAtMs;
    registry.register(backend, { draining: marks.draining || drained.has(backend.agentId) });
    if (marks.suspect) registry.markSuspect(backend, true);
    if (marks.announced) registry.markChoosable(backend);
  }
  nowMs = performance.now();
  registry.advance();
  return new Selector(registry, {
    drainingFallback: options.drainingFallback,
    backendChoice: options.backendChoice,
    load: (backend) => backend.load,
  });
}
