import { checkList } from '../proxy/ops/health-check.ts';
import {
  type HttpAnswer,
  type HttpEndpoints,
  type HttpHandlers,
  type HttpRequest,
  httpEndpoints,
  MOST_IDLE,
} from '../proxy/ops/http-endpoints.ts';
import { profilingHandlers } from '../proxy/ops/profiling.ts';
import type { ProxyServer } from '../proxy/server/proxy-server.ts';
import type { ServeOptions } from './flags/serve-options.ts';

/** Opens the health and admin ports of `serve`. @throws Fault; nothing is left open then */
export async function serveEndpoints(
  server: ProxyServer,
  options: Pick<ServeOptions, 'health' | 'admin' | 'profiling'>,
): Promise<HttpEndpoints[]> {
  const { health, admin, profiling } = options;
  const first = await httpEndpoints(health.host, health.port, '--health-port', healthHandlers(server), {
    newcomers: server.newcomers('health port', MOST_IDLE),
  });
  try {
    const handlers = { ...metricsHandlers(server), ...(profiling ? profilingHandlers() : {}) };
    return [
      first,
      await httpEndpoints(admin.host, admin.port, '--admin-port', handlers, {
        newcomers: server.newcomers('admin port', MOST_IDLE),
      }),
    ];
  } catch (error) {
    await first.close();
    throw error;
  }
}

function metricsHandlers(server: ProxyServer): HttpHandlers {
  const { registry } = server.metrics;
  return {
    '/metrics': async () => ({ status: 200, body: await registry.metrics(), type: registry.contentType }),
  };
}

function healthHandlers(server: ProxyServer): HttpHandlers {
  const ready = ({ query }: HttpRequest): HttpAnswer => {
    const { ready, text, stopping, checks } = server.readiness;
    const body = query.has('verbose') ? checkList(checks, ready) : text;
    return { status: ready ? 200 : stopping ? 503 : 500, body };
  };
  return {
    ...metricsHandlers(server),
    '/healthz': () => ({ status: 200, body: 'ok' }),
    '/readyz': ready,
    '/ready': ready,
  };
}
