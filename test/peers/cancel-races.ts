import assert from 'node:assert/strict';
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
/** An HTTP/2 server ends a connection that resets more streams than this in a short time. */
const RACES_OF_ONE_CLIENT = 500;
/** Longer than anything takes here: what takes longer hangs. */
const HANGS_MS = 60_000;
/** Turns of the event loop that the answer takes to its client, and some more: with fast streams, and with public ones. */
const TURNS = [12, 80] as const;

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
  const destinations = await Promise.all(Array.from({ length: AT_ONCE }, () => AcceptingDestination.start()));
  let next = 0;
  const racer = async (destination: AcceptingDestination): Promise<void> => {
    let client = proxyClient(tunnel);
    try {
      for (let race = next++, own = 1; race < races; race = next++, own++) {
        if (own % RACES_OF_ONE_CLIENT === 0) {
          client.close();
          client = proxyClient(tunnel);
        }
        await within(runRace(tunnel, client, cancel, destination, race), `race ${race} by ${cancel}`);
      }
    } finally {
      client.close();
    }
  };
  try {
    await Promise.all(destinations.map(racer));
    await nothingLeft(tunnel);
    await until(() => destinations.every((one) => one.open === 0), 'no connection left at a destination');
  } finally {
    for (const destination of destinations) destination.close();
  }
  return {
    cancelled: (counters.dialFailures.get('frontend_close') ?? 0) - cancelledBefore,
    answered: counters.dialsSucceeded - answeredBefore,
  };
}

async function runRace(
  tunnel: TestTunnel,
  client: Client,
  cancel: Cancel,
  destination: AcceptingDestination,
  race: number,
): Promise<void> {
  const accepted = destination.accepts();
  const { ended, takeBack } = dial(tunnel, client, cancel, destination.address);
  if (race % 2 === 0) {
    const early = ended.then((how) => assert.fail(`the dial ended before it was taken back: ${how}`));
    await Promise.race([accepted, early]);
    early.catch(() => {});
  }
  // grpc-js forgets a cancel in the very tick in which the call was made.
  const turns = (race >> 2) % TURNS[(race >> 1) % 2 === 0 ? 0 : 1];
  for (let turn = 0; turn <= turns; turn++) await new Promise((go) => setImmediate(go));
  takeBack();
  await ended;
}

async function within(done: Promise<void>, what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs`)), HANGS_MS);
  });
  try {
    await Promise.race([done, hangs]);
  } finally {
    clearTimeout(timer);
  }
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

/** A dial that can be taken back, and its end as its client sees it, in words. */
interface RacedDial {
  readonly ended: Promise<string>;
  takeBack(): void;
}

function dial(tunnel: TestTunnel, client: Client, cancel: Cancel, address: string): RacedDial {
  if (cancel === 'hang-up') {
    const socket = connect(tunnel.server.connectPath);
    socket.on('error', () => {}).resume();
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    const ended = new Promise<string>((resolve) => socket.once('close', () => resolve('closed')));
    return { ended, takeBack: () => socket.destroy() };
  }
  const id = newDialId();
  const stream = openPublicPacketStream(client, PROXY_PATH, new Metadata());
  const ended = new Promise<string>((resolve) => {
    stream.attach({
      onPacket: () => {},
      onDrain: () => {},
      onEnd: ({ cause, code, details }) => resolve(`${cause}, status ${code} (${details})`),
    });
  });
  stream.send(dialRequest(id, address));
  const takeBack = (): void => {
    if (cancel === 'DIAL_CLS') stream.send(closeDial(id));
    else stream.abort(1, 'given up');
  };
  return { ended, takeBack };
}
