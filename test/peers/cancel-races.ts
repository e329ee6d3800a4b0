import { connect } from 'node:net';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { newDialId } from '../../src/proxy/server/dial-desk.ts';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { openPublicPacketStream } from '../../src/proxy/wire/client-stream.ts';
import { closeDial, dialRequest } from '../../src/proxy/wire/packets.ts';
import { PROXY_PATH } from '../../src/proxy/wire/services.ts';
import { until } from './sockets-left.ts';
import { startDestination, type TestTunnel } from './tunnel.ts';

/** How a client takes its dial back. */
export type Cancel = 'hang-up' | 'DIAL_CLS' | 'reset';

const AT_ONCE = 10;
/** Turns of the event loop that the answer takes to its client, and some more. */
const TURNS = 12;

/** How the races went. */
export interface CancelRaces {
  /** Dials that were taken back before their answer, and that the answer overtook. */
  readonly cancelled: number;
  readonly answered: number;
}

/**
 * Dials, and takes each dial back around the instant of its answer: a number of turns of the event loop after the
 * request, or after the destination accepted, other ones each time. Resolves when nothing is left of them on server,
 * agent and destinations; fails when something stays.
 */
export async function raceCancels(tunnel: TestTunnel, cancel: Cancel, races: number): Promise<CancelRaces> {
  const { counters } = tunnel.server.server;
  const cancelledBefore = counters.dialFailures.get('frontend_close') ?? 0;
  const answeredBefore = counters.dialsSucceeded;
  const client = proxyClient(tunnel);
  const destinations = await Promise.all(Array.from({ length: AT_ONCE }, () => AcceptingDestination.start()));
  let next = 0;
  const racer = async (destination: AcceptingDestination): Promise<void> => {
    for (let race = next++; race < races; race = next++) {
      const accepted = destination.accepts();
      const takeBack = dial(tunnel, client, cancel, destination.address);
      if (race % 2 === 0) await accepted;
      // grpc-js forgets a cancel in the very tick in which the call was made.
      for (let turn = 0; turn <= (race >> 1) % TURNS; turn++) await new Promise((go) => setImmediate(go));
      await takeBack();
    }
  };
  try {
    await Promise.all(destinations.map(racer));
    await nothingLeft(tunnel);
    await until(() => destinations.every((one) => one.open === 0), 'no connection left at a destination');
  } finally {
    client.close();
    for (const destination of destinations) destination.close();
  }
  return {
    cancelled: (counters.dialFailures.get('frontend_close') ?? 0) - cancelledBefore,
    answered: counters.dialsSucceeded - answeredBefore,
  };
}

/** A destination that says when it accepted. */
class AcceptingDestination {
  open = 0;
  address = '';
  close: () => void = () => {};
  #onAccept: () => void = () => {};

  static async start(): Promise<AcceptingDestination> {
    const destination = new AcceptingDestination();
    const { address, close } = await startDestination((socket) => {
      destination.open++;
      socket.on('close', () => destination.open--);
      socket.on('end', () => socket.end()).resume();
      destination.#onAccept();
    });
    destination.address = address;
    destination.close = close;
    return destination;
  }

  accepts(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAccept = resolve;
    });
  }
}

async function nothingLeft(tunnel: TestTunnel): Promise<void> {
  const { counters } = tunnel.server.server;
  await until(() => counters.pendingDials === 0 && counters.establishedTunnels === 0, 'no tunnel left');
  await until(() => counters.grpcFrontends === 0 && counters.connectFrontends === 0, 'no frontend left');
  for (const { agent } of tunnel.agents.values()) {
    await until(() => agent.status.pendingDials === 0 && agent.status.tunnels === 0, 'no tunnel at an agent');
    await until(() => agent.counts.openEndpoints === 0, 'no endpoint left');
  }
}

function proxyClient(tunnel: TestTunnel): Client {
  return new Client(`unix:${tunnel.server.grpcPath}`, credentials.createInsecure(), {
    ...clientOptions(),
    'grpc.default_authority': 'localhost',
  });
}

/** Begins a dial; the returned function takes it back, and resolves when the client has seen its end. */
function dial(tunnel: TestTunnel, client: Client, cancel: Cancel, address: string): () => Promise<void> {
  if (cancel === 'hang-up') {
    const socket = connect(tunnel.server.connectPath);
    socket.on('error', () => {}).resume();
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    return async () => {
      socket.destroy();
      await closed;
    };
  }
  const id = newDialId();
  const stream = openPublicPacketStream(client, PROXY_PATH, new Metadata());
  const ended = new Promise<void>((resolve) => {
    stream.attach({ onPacket: () => {}, onDrain: () => {}, onEnd: () => resolve() });
  });
  stream.send(dialRequest(id, address));
  return async () => {
    if (cancel === 'DIAL_CLS') stream.send(closeDial(id));
    else stream.abort(1, 'given up');
    await ended;
  };
}
