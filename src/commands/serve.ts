import type { AdminService } from '../proxy/admin/service/open-admin-service.ts';
import type { AgentTokens } from '../proxy/kubernetes/agent-tokens.ts';
import type { HttpEndpoints } from '../proxy/ops/http-endpoints.ts';
import { markSmallHeapsWhole } from '../proxy/ops/whole-marking.ts';
import { ProxyServer } from '../proxy/server/proxy-server.ts';
import { defaultServerTimes, type ProxyServerOptions } from '../proxy/server/server-options.ts';
import { defaultBufferBounds } from '../proxy/wire/buffers.ts';
import { agentTokens, countReviews } from './agent-tokens.ts';
import { processFlagEnvironment } from './flags/flag-environment.ts';
import type { ServeOptions } from './flags/serve-options.ts';
import { parseServe } from './flags/validate-serve.ts';
import type { CommandIo } from './io.ts';
import { dieOnBugs, logStart, setUpLog } from './log-setup.ts';
import { serveAdmin } from './serve-admin.ts';
import { serveEndpoints } from './serve-endpoints.ts';
import { openLeases } from './serve-leases.ts';
import { version } from './version.ts';

/**
 * `konnectivity-ts serve`: runs a proxy server until a signal. The first one stops it within
 * --graceful-shutdown-timeout, the second at once.
 * @returns the exit code
 * @throws Fault for bad flags, files and ports
 */
export async function serve(argv: readonly string[], io: CommandIo): Promise<number> {
  const request = parseServe(argv, processFlagEnvironment(io.env));
  if (request.kind === 'help') {
    io.stdout.write(request.text);
    return 0;
  }
  const { options } = request;
  const log = setUpLog(options.log, io).named('serve');
  const tokens = await agentTokens(options, io.env);
  const server = new ProxyServer(coreOptions(options, tokens?.authenticator), log);
  if (tokens !== undefined) countReviews(server.metrics.registry, tokens.authenticator);
  const leases = await openLeases(options, io, server, log);
  const http: HttpEndpoints[] = [];
  let admin: AdminService | undefined;
  try {
    await server.start();
    http.push(...(await serveEndpoints(server, options)));
    admin = await serveAdmin(server, options, io, log);
  } catch (error) {
    leases?.close();
    await Promise.all([server.close(), ...http.map((one) => one.close())]);
    tokens?.close();
    throw error;
  }
  dieOnBugs(log);
  markSmallHeapsWhole([...process.execArgv, io.env.NODE_OPTIONS ?? '']);
  logStart(log, 'serve', version, request.notes, request.warnings);
  log.info(1, 'Listening', {
    frontend: server.frontendListeners.map((listener) => listener.address).join(','),
    mode: options.frontends[0]?.mode,
    agentPort: server.agentPort,
    strategies: options.strategies.join(','),
    serverID: options.serverId,
    ...(admin === undefined ? {} : { adminSocket: admin.socketPath, adminGrpcPort: admin.port }),
  });
  leases?.controller.start();
  await aborted(io.interrupted);
  log.info(0, 'Stopping on a signal');
  // The Lease goes first: from now on no agent is to look for this server.
  await Promise.all([
    leases?.controller.stop(io.killed),
    server.shutdown(options.gracefulShutdownTimeoutMs, io.killed),
  ]);
  leases?.close();
  tokens?.close();
  // Last, so that operators see the end.
  await admin?.close();
  await Promise.all(http.map((one) => one.close()));
  return 0;
}

function coreOptions(options: ServeOptions, authenticator: AgentTokens | undefined): ProxyServerOptions {
  return {
    serverId: options.serverId,
    serverCount: options.serverCount,
    version,
    frontends: options.frontends,
    agents: options.agents,
    ...(authenticator === undefined ? {} : { authenticator }),
    tlsMinVersion: options.tlsMinVersion,
    tlsCiphers: options.tlsCiphers,
    strategies: options.strategies,
    drainingFallback: options.drainingFallback,
    backendChoice: options.backendChoice,
    publicStreams: options.publicStreams,
    stateDirectory: options.stateDirectory,
    keepaliveMs: options.keepaliveMs,
    frontendKeepaliveMs: options.frontendKeepaliveMs,
    times: {
      ...defaultServerTimes,
      dialTimeoutMs: options.backendDialTimeoutMs,
      halfCloseTimeoutMs: options.halfCloseTimeoutMs,
    },
    bounds: {
      ...defaultBufferBounds,
      budgetBytes: options.bufferBudgetBytes,
      softBytes: options.tunnelBufferBytes,
      hardBytes: Math.max(defaultBufferBounds.hardBytes, 4 * options.tunnelBufferBytes),
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
