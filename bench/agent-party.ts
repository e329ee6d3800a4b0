import type { CleanUp } from './clean-up.ts';
import type { PairCommands } from './options.ts';
import { Party } from './party.ts';
import type { PkiFiles } from './pki.ts';
import { freePort } from './ports.ts';

/** Starts an agent that connects to `port`; it has not yet when this resolves. */
export async function startAgent(
  name: string,
  commands: PairCommands,
  port: number,
  pki: PkiFiles,
  cleanUp: CleanUp,
): Promise<Party> {
  const flags = [
    `--ca-cert=${pki.caCert}`,
    `--agent-cert=${pki.agentCert}`,
    `--agent-key=${pki.agentKey}`,
    '--proxy-server-host=127.0.0.1',
    `--proxy-server-port=${port}`,
    `--admin-server-port=${await freePort()}`,
    `--health-server-port=${await freePort()}`,
    '--health-server-host=127.0.0.1',
    `--agent-id=${name}`,
  ];
  return await Party.start(`${name}-agent`, [...commands.agent, ...flags, ...commands.extra], cleanUp);
}
