import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdminService, openAdminService } from '../../proxy/admin/service/open-admin-service.ts';
import type { TunnelServer } from '../../proxy/client/tunnel-server.ts';
import { Fault } from '../../proxy/ops/fault.ts';
import { createLog, type Log } from '../../proxy/ops/log.ts';
import { loadClientTls } from '../../proxy/ops/tls-files.ts';
import { checkUnixPath } from '../../proxy/ops/unix-path.ts';
import { ProxyServer } from '../../proxy/server/proxy-server.ts';
import { defaultServerTimes } from '../../proxy/server/server-options.ts';
import { defaultBufferBounds } from '../../proxy/wire/buffers.ts';
import { defaultProbeTimes } from '../../proxy/wire/probe.ts';
import { version } from '../version.ts';
import { type AgentProcess, lastLine, startAgentProcess } from './agent-process.ts';
import { type DemoPki, makeDemoPki } from './pki.ts';
import { startTarget, type Target } from './target.ts';

const SOCKET_NAME = 'frontend.sock';
const ADMIN_NAME = 'admin.sock';
const AGENT_IDS = ['demo-a', 'demo-b', 'demo-c'];
const READY_TIMEOUT_MS = 20_000;
const LOOK_AGAIN_MS = 20;
/** A server measures round trips after ten seconds; who looks at the demo has seen it by then. */
const PROBE_MS = 200;

/** Everything that the demo runs. */
export interface Scene {
  readonly directory: string;
  readonly pki: DemoPki;
  readonly server: ProxyServer;
  readonly serverLog: string;
  /** Where to dial: the server's two frontends, both HTTP CONNECT. */
  readonly unix: TunnelServer & { readonly kind: 'unix' };
  readonly tls: TunnelServer & { readonly kind: 'tls' };
  /** The address of the server's admin API, for --admin. */
  readonly adminAddress: string;
  /** By agent ID. One that ended stays until it is started again. */
  readonly agents: ReadonlyMap<string, AgentProcess>;
  readonly target: Target;
  /** Starts an agent (anew) and resolves when it is ready for dials. @throws Fault */
  startAgent(id: string, signal: AbortSignal): Promise<AgentProcess>;
  /** Ends processes, sockets and files. Never fails. */
  close(): Promise<void>;
}

/** Sets the scene: certificates, server, target, agents ready for dials. @throws Fault; nothing is left then */
export async function setScene(signal: AbortSignal): Promise<Scene> {
  const directory = makeDirectory();
  const agents = new Map<string, AgentProcess>();
  let closed = false;
  const sweep = (): void => {
    for (const agent of agents.values()) agent.kill();
    rmSync(directory, { recursive: true, force: true });
  };
  // Also when this process ends in a way that leaves no time for anything else.
  process.once('exit', sweep);
  let server: ProxyServer | undefined;
  let target: Target | undefined;
  let admin: AdminService | undefined;
  const close = async (): Promise<void> => {
    closed = true;
    for (const agent of agents.values()) agent.kill();
    await Promise.all([...agents.values()].map((agent) => agent.exited));
    await admin?.close();
    await Promise.allSettled([server?.close(), target?.close()]);
    sweep();
    process.off('exit', sweep);
  };
  try {
    const pki = await makeDemoPki(directory);
    const serverLog = join(directory, 'server.log');
    const unixPath = join(directory, SOCKET_NAME);
    const log = createLog({
      verbosity: 2,
      write: (line) => appendFileSync(serverLog, line, { mode: 0o600 }),
    });
    const started = makeServer(pki, log, unixPath);
    server = started;
    await started.start();
    const adminPath = join(directory, ADMIN_NAME);
    admin = await openAdminService(
      started,
      // Never the place where commands look by themselves: that may be a real server's.
      { socket: { kind: 'path', path: adminPath }, auditLog: '', keepsOrders: false },
      log.named('scene'),
    );
    target = await startTarget();
    const place = { directory, pki, agentPort: started.agentPort };
    const startAgent = async (id: string, stop: AbortSignal): Promise<AgentProcess> => {
      const agent = await startAgentProcess(id, place);
      // One that was starting while everything was closed would be nobody's.
      if (closed) agent.kill();
      else agents.set(id, agent);
      await agentReady(started, agent, stop);
      return agent;
    };
    await Promise.all(AGENT_IDS.map((id) => startAgent(id, signal)));
    return {
      directory,
      pki,
      server: started,
      serverLog,
      unix: { kind: 'unix', path: unixPath },
      tls: {
        kind: 'tls',
        host: '127.0.0.1',
        port: started.frontendListeners[1]?.port ?? 0,
        tls: clientTls(pki),
      },
      adminAddress: `unix://${adminPath}`,
      agents,
      target,
      startAgent,
      close,
    };
  } catch (error) {
    await close();
    throw fileFault(error, directory);
  }
}

/** The demo's own directory. @throws Fault when there cannot be one, or its path leaves no room for a socket's */
function makeDirectory(): string {
  const start = join(tmpdir(), 'konnectivity-ts-demo-');
  checkUnixPath(join(`${start}XXXXXX`, SOCKET_NAME), 'with TMPDIR as it is, the path of the socket,');
  try {
    return mkdtempSync(start);
  } catch (error) {
    throw fileFault(error, tmpdir());
  }
}

/** What the file system refuses, made for people; anything else as it is. */
function fileFault(error: unknown, directory: string): unknown {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (error instanceof Fault || syscall === undefined || path === undefined) return error;
  return new Fault(
    'no-temporary-directory',
    `the temporary directory ${directory} cannot be used: ${code}`,
    'set TMPDIR to a directory with room that we may write to',
    error,
  );
}

function makeServer(pki: DemoPki, log: Log, unixPath: string): ProxyServer {
  const tls = { ...pki.server, caFile: pki.caFile };
  return new ProxyServer(
    {
      serverId: 'demo-server',
      serverCount: 1,
      version,
      frontends: [
        { mode: 'http-connect', address: { kind: 'unix', path: unixPath, deleteExisting: true } },
        { mode: 'http-connect', address: { kind: 'tls', host: '127.0.0.1', port: 0, tls } },
      ],
      agents: { host: '127.0.0.1', port: 0, tls },
      strategies: ['destHost', 'default'],
      drainingFallback: 'last-resort',
      backendChoice: 'random',
      publicStreams: false,
      keepaliveMs: 3_600_000,
      frontendKeepaliveMs: 3_600_000,
      times: { ...defaultServerTimes, probe: { ...defaultProbeTimes, intervalMs: PROBE_MS } },
      bounds: defaultBufferBounds,
    },
    log,
  );
}

function clientTls(pki: DemoPki) {
  const labels = { cert: 'the client certificate', key: 'the client key', ca: 'the CA' };
  return loadClientTls({ ...pki.client, caFile: pki.caFile, labels });
}

/** Resolves when dials may go to the agent. @throws Fault when it ends first, or takes too long */
async function agentReady(server: ProxyServer, agent: AgentProcess, signal: AbortSignal): Promise<void> {
  let exit: number | undefined;
  void agent.exited.then((code) => {
    exit = code;
  });
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  const { registry } = server.backends;
  for (;;) {
    for (const backend of server.backends.all()) {
      if (backend.agentId === agent.id && !backend.leaving && registry.stateOf(backend)?.announced) return;
    }
    if (signal.aborted) throw new Fault('cancelled', 'interrupted while the demo was starting');
    if (exit !== undefined) {
      throw new Fault('agent-ended', `${agent.id} ended with exit code ${exit}: ${lastLine(agent)}`);
    }
    if (performance.now() > deadlineMs) {
      const within = `within ${READY_TIMEOUT_MS / 1000} s`;
      throw new Fault('agent-not-ready', `${agent.id} did not connect ${within}: ${lastLine(agent)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
