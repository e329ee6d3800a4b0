import { randomUUID } from 'node:crypto';
import { agentMetrics } from '../proxy/agent/agent-metrics.ts';
import { defaultAgentTimes } from '../proxy/agent/agent-options.ts';
import { connectServer, type ServerAddress } from '../proxy/agent/connect-server.ts';
import { connectDestination } from '../proxy/agent/destination.ts';
import { agentLeaseMetrics } from '../proxy/agent/lease-metrics.ts';
import { ProxyAgent } from '../proxy/agent/proxy-agent.ts';
import { createResolver } from '../proxy/agent/resolver.ts';
import { openKubeApi } from '../proxy/kubernetes/kube-api.ts';
import { channelCredentials } from '../proxy/ops/channel-credentials.ts';
import { Descriptors, outOfDescriptors } from '../proxy/ops/descriptors.ts';
import type { HttpEndpoints } from '../proxy/ops/http-endpoints.ts';
import { Newcomers } from '../proxy/ops/newcomers.ts';
import { connectFault } from '../proxy/ops/tls-errors.ts';
import { loadClientTls } from '../proxy/ops/tls-files.ts';
import { readTokenFile } from '../proxy/ops/token-file.ts';
import { markSmallHeapsWhole } from '../proxy/ops/whole-marking.ts';
import { defaultBufferBounds } from '../proxy/wire/buffers.ts';
import { agentEndpoints } from './agent-endpoints.ts';
import { countLeases } from './count-leases.ts';
import { processFlagEnvironment } from './flags/flag-environment.ts';
import { bufferBudgetBytes } from './flags/serve-options.ts';
import { type AgentOptions, parseAgent } from './flags/validate-agent.ts';
import type { CommandIo } from './io.ts';
import { dieOnBugs, logStart, setUpLog } from './log-setup.ts';
import { version } from './version.ts';

/**
 * `konnectivity-ts agent`: runs a proxy agent. The first SIGTERM or SIGINT makes it leave, which ends by itself; the
 * second ends it at once.
 * @returns the exit code
 * @throws Fault for bad flags, files and ports
 */
export async function agent(argv: readonly string[], io: CommandIo): Promise<number> {
  const environment = processFlagEnvironment(io.env);
  const request = parseAgent(argv, environment);
  if (request.kind === 'help') {
    io.stdout.write(request.text);
    return 0;
  }
  const { options } = request;
  const log = setUpLog(options.log, io).named('agent');
  const api =
    options.leases === undefined
      ? undefined
      : await openKubeApi({ kubeconfig: options.kubeconfig, env: io.env }, { perSecond: 0, burst: 0 });
  const resolver = createResolver();
  const descriptors = new Descriptors(log.named('descriptors'));
  const times = {
    ...defaultAgentTimes,
    syncIntervalMs: options.syncIntervalMs,
    syncIntervalCapMs: options.syncIntervalCapMs,
  };
  const address = serverAddress(options, times.connectTimeoutMs);
  const proxyAgent: ProxyAgent = new ProxyAgent(
    {
      agentId: options.agentId,
      identifiers: options.identifiers,
      version,
      syncForever: options.syncForever,
      countLeases: options.leases?.source,
      publicStreams: options.publicStreams,
      drainTimeoutMs: options.drainTimeoutMs,
      bounds: { ...defaultBufferBounds, budgetBytes: bufferBudgetBytes(environment.memoryBytes) },
      times,
    },
    {
      log,
      connectServer: (makeLink, signal) =>
        connectServer({ ...address, counts: proxyAgent.counts.servers }, makeLink, signal),
      connectDestination: (destination, signal) => {
        if (descriptors.refuseOneMore())
          return Promise.reject(outOfDescriptors(destination, descriptors.limit));
        return connectDestination(destination, { resolver, signal, timeoutMs: times.dialTimeoutMs });
      },
    },
  );
  const metrics = agentMetrics(proxyAgent);
  const leaseMetrics = agentLeaseMetrics(metrics.registry);
  const http: HttpEndpoints[] = [];
  try {
    // A bad file is refused at the start; a later one at the attempt that reads it.
    if (options.server.tokenFile !== '') await readAgentToken(options.server.tokenFile);
    const newcomers = (what: string, most: number): Newcomers =>
      new Newcomers(descriptors, log.named('newcomers'), what, most);
    http.push(...(await agentEndpoints(proxyAgent, metrics.registry, options, newcomers)));
  } catch (error) {
    await Promise.all(http.map((one) => one.close()));
    metrics.close();
    resolver.close();
    api?.close();
    throw error;
  }
  dieOnBugs(log);
  markSmallHeapsWhole([...process.execArgv, io.env.NODE_OPTIONS ?? '']);
  logStart(log, 'agent', version, request.notes, request.warnings);
  const onDrain = (): void => proxyAgent.leave();
  if (io.interrupted.aborted) onDrain();
  io.interrupted.addEventListener('abort', onDrain, { once: true });
  const stopCounting = countLeases(options, api, proxyAgent, leaseMetrics, log);
  const end = await proxyAgent.run(io.killed);
  await stopCounting();
  api?.close();
  log.info(0, end === 'left' ? 'Left: nothing is lost' : 'Stopped on a second signal');
  metrics.close();
  resolver.close();
  await Promise.all(http.map((one) => one.close()));
  return 0;
}

function serverAddress(options: AgentOptions, timeoutMs: number): ServerAddress {
  const { host, port, tls, tokenFile, keepaliveMs } = options.server;
  const labels = { cert: '--agent-cert', key: '--agent-key', ca: '--ca-cert' };
  const load = (): ReturnType<typeof loadClientTls> => loadClientTls({ ...tls, labels });
  // Bad files are refused at the start; later ones at the attempt that reads them.
  load();
  let lastError: unknown;
  return {
    host,
    port,
    agentId: options.agentId,
    identifiers: options.identifiers,
    version,
    instance: randomUUID(),
    publicStreams: options.publicStreams,
    keepaliveMs,
    timeoutMs,
    credentials: () => {
      lastError = undefined;
      return channelCredentials(load(), {
        alpn: options.server.alpn,
        onError: (error) => {
          lastError = error;
        },
      });
    },
    token: async () => (tokenFile === '' ? undefined : readAgentToken(tokenFile)),
    translate: (error, server) => connectFault(lastError ?? error.details, server),
  };
}

/** The kubelet replaces the file before its token expires. */
function readAgentToken(path: string): Promise<string> {
  return readTokenFile({ label: '--service-account-token-path', path });
}
