import assert from 'node:assert/strict';
import { DestinationServer } from './destination-server.ts';
import { type ScriptedConnect, ScriptedServer, type ScriptedServerOptions } from './scripted-server.ts';
import { noSocketsLeft, openSockets } from './sockets-left.ts';
import { TestAgent, type TestAgentOptions } from './test-agent.ts';

/** A server, an agent connected to it, and a destination. */
export interface AgentCase {
  readonly server: ScriptedServer;
  readonly agent: TestAgent;
  readonly connect: ScriptedConnect;
  readonly destination: DestinationServer;
}

/** Like a Go server: it announces nothing. */
export const goServer: ScriptedServerOptions = { features: undefined };

/** Runs a test on the three, once the agent has its stream (unless it gets `none`), then closes all and checks that the agent kept no socket. */
export async function agentCase(
  run: (parts: AgentCase) => Promise<void>,
  serverOptions: ScriptedServerOptions = {},
  agentOptions: TestAgentOptions = {},
  streams: 'some' | 'none' = 'some',
): Promise<void> {
  const before = openSockets();
  const server = await ScriptedServer.start(serverOptions);
  const destination = await DestinationServer.start();
  const agent = new TestAgent(server, agentOptions);
  try {
    const connect = streams === 'some' ? await server.connected() : (undefined as never);
    if (streams === 'some') await agent.logged('Connected to server');
    await run({ server, agent, connect, destination });
  } finally {
    await agent.stop();
    await destination.close();
    await server.close();
  }
  assert.equal(agent.agent.counts.openEndpoints, 0);
  assert.equal(agent.agent.status.pendingDials, 0);
  await noSocketsLeft(before);
}
