import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { decodeMessage } from '../../src/proxy/admin/messages/decode-message.ts';
import { encodeMessage } from '../../src/proxy/admin/messages/encode-message.ts';
import { messageTable } from '../../src/proxy/admin/messages/table.ts';
import type { Agent } from '../../src/proxy/admin/model/agent.ts';
import { viewOfAgent, withoutTrifles } from '../../src/proxy/admin/service/agent-view.ts';
import { AgentsBoard } from '../../src/proxy/admin/service/agents-board.ts';
import { knownAgents } from '../../src/proxy/admin/service/known-agents.ts';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialRequest, drain, status } from '../../src/proxy/wire/packets.ts';
import { answering } from '../peers/answering.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { until } from '../peers/sockets-left.ts';
import { TestServer } from '../peers/test-server.ts';

const RUNS = Number(process.env.BOARD_MODEL_RUNS ?? 4);
const AGENT = messageTable('Agent');
const ann = { actor: 'ann', actorClaimed: false };

const step = fc.record({
  op: fc.constantFrom('connect', 'connect', 'hang-up', 'leave', 'drain', 'undrain', 'dial', 'end', 'say'),
  agent: fc.constantFrom('a', 'b', 'c', 'd'),
  hosts: fc.subarray(['x', 'y', 'z']),
  kind: fc.constantFrom('ts' as const, 'go' as const),
  number: fc.nat(3),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Streams of scripted agents and frontends at a real server, which do one thing after the other. */
class Fleet {
  readonly peers: TestServer;
  readonly #agents: { readonly id: string; readonly kind: 'ts' | 'go'; readonly stream: ScriptedStream }[] =
    [];
  readonly #frontends: ScriptedStream[] = [];
  #dials = 0n;

  constructor(peers: TestServer) {
    this.peers = peers;
  }

  async perform({ op, agent, hosts, kind, number }: Step): Promise<void> {
    const { drain: control, backends } = this.peers.server;
    const at = this.#agents.findIndex(({ id }) => id === agent);
    const one = this.#agents[at];
    switch (op) {
      case 'connect': {
        const identifiers = hosts.map((host) => `host=${host}`).join('&');
        const stream = await this.peers.agent(agent, { kind, identifiers, instance: `i${number}` });
        answering(stream);
        this.#agents.push({ id: agent, kind, stream });
        return;
      }
      case 'hang-up':
        this.#agents.splice(Math.max(0, at), at < 0 ? 0 : 1);
        one?.stream.stream.abort(1, 'gone');
        if (one !== undefined) await until(() => backends.size === this.#agents.length, 'its end');
        return;
      case 'leave':
        one?.stream.send(drain());
        return;
      case 'say':
        if (one?.kind === 'ts') one.stream.send(status({ ...blankStatus(), tunnels: number }));
        return;
      case 'drain':
        if (control.known(agent)) control.drain({ agentIds: [agent], force: true, ...ann });
        return;
      case 'undrain':
        // Leaving agents of ours refuse.
        if (control.known(agent) && control.leavingSinceUnixMs(agent) === undefined) {
          control.undrain({ agentIds: [agent], ...ann });
        }
        return;
      case 'dial': {
        const frontend = this.peers.frontend();
        this.#frontends.push(frontend);
        frontend.send(dialRequest(++this.#dials, `${hosts[0] ?? 'x'}:80`));
        await frontend.next(PacketType.DIAL_RSP);
        return;
      }
      case 'end':
        this.#frontends.shift()?.stream.abort(1, 'done');
        return;
    }
  }
}

/** Without what changes with each look: a moment is told by two clocks, to the millisecond. */
const shown = (agent: Agent): unknown => {
  const { oldestTunnelSince, ...rest } = withoutTrifles(agent);
  return { ...decodeMessage(AGENT, encodeMessage(AGENT, rest)), hasTunnels: oldestTunnelSince !== undefined };
};

/** Resolves when watchers are told of every agent what one who asks now is told. */
async function agrees(board: AgentsBoard, peers: TestServer): Promise<void> {
  const told = (): unknown =>
    Object.fromEntries(
      [...board.ids()]
        .sort()
        .map((id) => [
          id,
          shown(decodeMessage(AGENT, board.encoded(id)?.bytes ?? Buffer.alloc(0)) as unknown as Agent),
        ]),
    );
  const true_ = (): unknown => {
    const at = { monoMs: performance.now(), unixMs: Date.now() };
    const ids = [...knownAgents(peers.server)].sort();
    return Object.fromEntries(
      ids.map((id) => [id, shown(viewOfAgent(peers.server, id, at)?.agent as Agent)]),
    );
  };
  const same = (): boolean => {
    board.refresh();
    return JSON.stringify(told()) === JSON.stringify(true_());
  };
  try {
    await until(same, 'the same', 3_000);
  } catch {
    assert.deepEqual(told(), true_());
  }
}

for (const strategies of [['destHost'], ['destHost', 'default']] as const) {
  it(`whatever happens, watchers are told what one who asks is told (${strategies})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40, size: 'max' }), async (steps) => {
        const peers = await TestServer.start({ strategies: [...strategies] });
        const fleet = new Fleet(peers);
        const board = new AgentsBoard(peers.server);
        const leave = board.join({ changed: () => {} });
        try {
          for (const one of steps) {
            await fleet.perform(one);
            await agrees(board, peers);
          }
        } finally {
          leave();
          await peers.close();
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  });
}
