import { agentReadiness } from '../proxy/agent/agent-readiness.ts';
import type { ProxyAgent } from '../proxy/agent/proxy-agent.ts';
import {
  type HttpAnswer,
  type HttpEndpoints,
  type HttpHandlers,
  type HttpRequest,
  httpEndpoints,
  MOST_IDLE,
} from '../proxy/ops/http-endpoints.ts';
import type { Newcomers } from '../proxy/ops/newcomers.ts';
import { profilingHandlers } from '../proxy/ops/profiling.ts';
import type { AgentOptions } from './flags/validate-agent.ts';

/** What answers scrapes. */
interface Scraped {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** Opens the health and admin ports of `agent`. @throws Fault; nothing is left open then */
export async function agentEndpoints(
  agent: ProxyAgent,
  registry: Scraped,
  options: Pick<AgentOptions, 'health' | 'admin' | 'profiling'>,
  newcomers: (what: string, most: number) => Newcomers | undefined = () => undefined,
): Promise<HttpEndpoints[]> {
  const { health, admin, profiling } = options;
  const first = await httpEndpoints(
    health.host,
    health.port,
    '--health-server-port',
    healthHandlers(agent, registry),
    { newcomers: newcomers('health port', MOST_IDLE) },
  );
  try {
    const handlers = { ...redirect(first.port), ...(profiling ? profilingHandlers() : {}) };
    const limits = { newcomers: newcomers('admin port', MOST_IDLE) };
    return [first, await httpEndpoints(admin.host, admin.port, '--admin-server-port', handlers, limits)];
  } catch (error) {
    await first.close();
    throw error;
  }
}

function healthHandlers(agent: ProxyAgent, registry: Scraped): HttpHandlers {
  const ready = ({ query }: HttpRequest): HttpAnswer => {
    const { ready, text } = agentReadiness(agent, query.has('verbose'));
    return { status: ready ? 200 : 503, body: text };
  };
  return {
    '/healthz': () => ({ status: 200, body: 'ok' }),
    '/readyz': ready,
    '/ready': ready,
    '/metrics': async () => ({ status: 200, body: await registry.metrics(), type: registry.contentType }),
  };
}

/** Upstream moved the metrics to the health port, and sends scrapers there by the name that they used. */
function redirect(healthPort: number): HttpHandlers {
  return {
    '/metrics': ({ host, search }) => ({
      status: 301,
      body: '',
      location: `//${host || '127.0.0.1'}:${healthPort}/metrics${search}`,
    }),
  };
}
