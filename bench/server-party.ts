import { join } from 'node:path';
import type { CleanUp } from './clean-up.ts';
import type { Entry, FrontendKind } from './messages.ts';
import type { PairCommands } from './options.ts';
import { Party } from './party.ts';
import type { PkiFiles } from './pki.ts';
import { freePort } from './ports.ts';

/** A server that was started, and where it listens. */
export interface ServerParty {
  readonly party: Party;
  readonly entry: Entry;
  readonly agentPort: number;
  readonly healthPort: number;
}

/** Starts a server; it is not ready yet when this resolves. @param more flags of this bench alone */
export async function startServer(
  name: string,
  commands: PairCommands,
  frontend: FrontendKind,
  pki: PkiFiles,
  cleanUp: CleanUp,
  more: readonly string[] = [],
): Promise<ServerParty> {
  const mtls = frontend === 'connect-mtls';
  const [agentPort, healthPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const frontendPort = mtls ? await freePort() : 0;
  const socketPath = join(cleanUp.directory, `${name}.sock`);
  const onTcp = [
    '--server-bind-address=127.0.0.1',
    `--server-cert=${pki.serverCert}`,
    `--server-key=${pki.serverKey}`,
    `--server-ca-cert=${pki.caCert}`,
  ];
  const flags = [
    `--mode=${frontend === 'connect' || mtls ? 'http-connect' : 'grpc'}`,
    `--server-port=${frontendPort}`,
    ...(mtls ? onTcp : [`--uds-name=${socketPath}`]),
    `--server-id=${name}`,
    `--cluster-cert=${pki.serverCert}`,
    `--cluster-key=${pki.serverKey}`,
    `--cluster-ca-cert=${pki.caCert}`,
    `--agent-port=${agentPort}`,
    '--agent-bind-address=127.0.0.1',
    `--admin-port=${adminPort}`,
    '--admin-bind-address=127.0.0.1',
    `--health-port=${healthPort}`,
    '--health-bind-address=127.0.0.1',
  ];
  const words = [...commands.serve, ...flags, ...more, ...commands.extra];
  const party = await Party.start(`${name}-server`, words, cleanUp);
  const tls = { caFile: pki.caCert, certFile: pki.agentCert, keyFile: pki.agentKey };
  const entry: Entry = mtls
    ? { kind: 'connect-mtls', port: frontendPort, tls }
    : { kind: frontend, socketPath };
  return { party, entry, agentPort, healthPort };
}
