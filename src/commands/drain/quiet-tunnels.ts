import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import { ageText } from '../../proxy/admin/model/amounts.ts';
import type { Tunnel } from '../../proxy/admin/model/tunnel.ts';
import { askAll, askOne } from '../ask-all.ts';
import { formatDuration } from '../flags/go-duration.ts';
import type { Operator } from '../operator.ts';
import { tunnelsUpTo } from '../tunnel-pages.ts';

const MOST_AT_ONCE = 1_000;

export interface QuietTunnel {
  readonly client: AdminClient;
  readonly tunnel: Tunnel;
}

/** The tunnels of an agent that carried no byte for so long, at all servers that answer. */
export async function quietTunnels(
  operator: Operator,
  agent: string,
  quietMs: number,
): Promise<QuietTunnel[]> {
  const request = { agent, idleAtLeastSeconds: quietMs / 1_000 };
  const answers = await askAll(operator, (client, signal) =>
    tunnelsUpTo(client, request, MOST_AT_ONCE, signal),
  );
  return answers.flatMap((answer) =>
    answer.fault === undefined
      ? answer.value.tunnels.map((tunnel) => ({ client: answer.client, tunnel }))
      : [],
  );
}

/** Closes them, and says which. One that has ended meanwhile, or is not closed, is left to the next turn. */
export async function closeQuiet(operator: Operator, agent: string, quietMs: number): Promise<number> {
  let closed = 0;
  for (const { client, tunnel } of await quietTunnels(operator, agent, quietMs)) {
    const reason = `no byte for ${formatDuration(quietMs)}, and ${agent} drains`;
    const answer = await askOne(operator, client, (server, signal) =>
      server.closeTunnel({ id: tunnel.id, reason }, signal),
    );
    if (answer.fault === undefined) {
      closed++;
      operator.say(
        `${agent}: closed ${tunnel.destination}, without a byte for ${ageText(tunnel.idleSeconds)}`,
      );
    } else if (answer.fault.code !== 'admin-not-found') {
      operator.say(`konnectivity-ts: ${tunnel.id} was not closed: ${answer.fault.line}`);
    }
  }
  return closed;
}
