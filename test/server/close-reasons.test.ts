import assert from 'node:assert/strict';
import { it } from 'node:test';
import { defaultBufferBounds } from '../../src/proxy/wire/buffers.ts';
import { type CloseReason, closeReasons } from '../../src/proxy/wire/close-reason.ts';
import { encodeDataFrame } from '../../src/proxy/wire/encode.ts';
import { PacketType } from '../../src/proxy/wire/packet.ts';
import { closeRequest, closeResponse, dialRequest, dialResponse } from '../../src/proxy/wire/packets.ts';
import { AdminCase } from '../peers/admin-case.ts';
import { readHead, requestConnect } from '../peers/connect-request.ts';
import { ManualClock } from '../peers/manual-clock.ts';
import type { ScriptedStream } from '../peers/scripted-stream.ts';
import { Exposition } from '../peers/upstream-metrics.ts';

const never = new AbortController().signal;
const HOUR_MS = 3_600_000;
/** A packet type without its payload. */
const GARBAGE = Buffer.from([0, 0, 0, 0, 2, 8, 4]);
const CONNECT_ID = 7;

/** A gRPC tunnel through an agent, both in the hand of the test. */
interface Parts {
  readonly admin: AdminCase;
  readonly clock: ManualClock;
  readonly agent: ScriptedStream;
  readonly frontend: ScriptedStream;
}

interface Way {
  readonly reason: CloseReason;
  readonly when: string;
  readonly end: (parts: Parts) => unknown;
  /** Default: of ours. */
  readonly kind?: 'go' | 'ts';
  readonly client?: 'grpc' | 'half-closes';
}

const ways: readonly Way[] = [
  {
    reason: 'frontend-closed',
    when: 'the client closes',
    end: ({ frontend }) => frontend.send(closeRequest(CONNECT_ID)),
  },
  {
    reason: 'frontend-lost',
    when: 'the client breaks off',
    end: ({ frontend }) => frontend.stream.abort(1, 'gone'),
  },
  {
    reason: 'endpoint-closed',
    when: 'the destination ends',
    end: ({ agent }) => agent.send(closeResponse(CONNECT_ID)),
  },
  {
    reason: 'endpoint-lost',
    when: 'the destination breaks off',
    end: ({ agent }) => agent.send(closeResponse(CONNECT_ID, '10.0.0.1:80: ECONNRESET')),
  },
  {
    reason: 'endpoint-lost',
    when: 'a Go agent says something that is a word of ours',
    kind: 'go',
    end: ({ agent }) => agent.send(closeResponse(CONNECT_ID, 'stopping')),
  },
  {
    reason: 'agent-lost',
    when: 'the stream of the agent ends',
    end: ({ agent }) => agent.stream.abort(1, 'gone'),
  },
  {
    reason: 'slow-consumer',
    when: 'more waits for the client than the bounds allow',
    kind: 'go',
    end: ({ agent, frontend }) => {
      frontend.stream.pause();
      for (let i = 0; i < 64; i++) agent.stream.sendData(CONNECT_ID, Buffer.alloc(65_536));
    },
  },
  ...(['slow-consumer', 'protocol-error', 'drain-deadline', 'stopping'] as const).map((reason) => ({
    reason,
    when: 'an agent of ours cuts it for that',
    end: ({ agent }: Parts) => agent.send(closeResponse(CONNECT_ID, reason)),
  })),
  {
    reason: 'half-close-timeout',
    when: 'the client ended its side and the destination is silent',
    client: 'half-closes',
    end: () => {},
  },
  {
    reason: 'malformed-packet',
    when: 'the client sends garbage',
    end: ({ frontend }) => frontend.stream.sendFrame(GARBAGE),
  },
  {
    reason: 'malformed-packet',
    when: 'the agent sends garbage',
    end: ({ agent }) => agent.stream.sendFrame(GARBAGE),
  },
  {
    reason: 'protocol-error',
    when: 'the client names a connectID that is not its own',
    end: ({ frontend }) => frontend.stream.sendFrame(encodeDataFrame(CONNECT_ID + 1, Buffer.from('x'))),
  },
  {
    reason: 'drain-deadline',
    when: 'the deadline of an order passes that says so',
    end: ({ admin, clock }) => {
      const order = { atDeadline: 'close', deadlineMs: HOUR_MS, force: true } as const;
      admin.peers.server.drain.drain({ agentIds: ['a'], actor: 'ann', actorClaimed: false, ...order });
      clock.advance(HOUR_MS);
    },
  },
  {
    reason: 'closed-by-operator',
    when: 'an operator closes it',
    end: async ({ admin }) => {
      const [open] = (await admin.client.tunnels({}, never)).tunnels;
      await admin.client.closeTunnel({ id: open?.id ?? '' }, never);
    },
  },
  {
    reason: 'stopping',
    when: 'the server is stopped',
    end: ({ admin }) => admin.peers.server.shutdown(0, never),
  },
];

for (const { reason, when, end, kind = 'ts', client = 'grpc' } of ways) {
  it(`${reason} is what log, metric and admin API say when ${when}`, async () => {
    const clock = new ManualClock();
    const bounds = { ...defaultBufferBounds, softBytes: 65_536, hardBytes: 131_072 };
    const times = { halfCloseTimeoutMs: 20, holdMs: 0 };
    const admin = await AdminCase.start({ server: { verbosity: 4, drain: { clock }, bounds, times } });
    try {
      const { peers } = admin;
      const agent = await peers.agent('a', { kind, features: 'ping,status,flow,half-close,order' });
      const answer = async (): Promise<boolean> =>
        agent.send(dialResponse((await agent.next(PacketType.DIAL_REQ)).dialId, CONNECT_ID));
      if (client === 'grpc') {
        const frontend = peers.frontend();
        frontend.send(dialRequest(1n, '10.0.0.1:80'));
        await answer();
        await frontend.next(PacketType.DIAL_RSP);
        await end({ admin, clock, agent, frontend });
      } else {
        const socket = await peers.connectSocket();
        requestConnect(socket, '10.0.0.1:80');
        await answer();
        await readHead(socket);
        socket.end();
      }
      const line = await peers.logged('"Tunnel closed"');
      assert.equal(/ reason="([^"]*)"/.exec(line)?.[1], reason);
      assert.equal(peers.lines.all.filter((one) => one.includes('"Tunnel closed"')).length, 1);
      const exposition = new Exposition(await peers.server.metrics.registry.metrics());
      const counted = closeReasons.filter(
        (one) => exposition.value(`konnectivity_ts_closed_tunnels_total{reason="${one}"}`) === 1,
      );
      assert.deepEqual(counted, [reason]);
      const listed = (await admin.client.tunnels({ closed: true }, never)).tunnels;
      assert.deepEqual(
        listed.map((tunnel) => tunnel.closeReason),
        [reason],
      );
    } finally {
      await admin.close();
    }
  });
}

it('each reason that a server can give is among these', () => {
  const shown = new Set(ways.map(({ reason }) => reason));
  // Said by the agent, when the server is gone.
  assert.deepEqual(
    closeReasons.filter((reason) => !shown.has(reason)),
    ['server-lost'],
  );
});
