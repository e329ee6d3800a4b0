import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { interleaveFamilies } from '../../src/proxy/agent/address-race.ts';
import { connectFault, mostTelling } from '../../src/proxy/agent/connect-fault.ts';
import { connectDestination } from '../../src/proxy/agent/destination.ts';
import type { ResolvedAddress } from '../../src/proxy/agent/hosts-file.ts';
import { parseDestination } from '../../src/proxy/agent/parse-destination.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { type BlackHole, openBlackHole } from '../peers/black-hole.ts';

const noName = { resolve: () => assert.fail('nothing is to be resolved') };
const never = (): AbortSignal => new AbortController().signal;

function named(...addresses: string[]) {
  const list = addresses.map(
    (address): ResolvedAddress => ({ address, family: address.includes(':') ? 6 : 4 }),
  );
  return { resolve: async () => list };
}

async function listen(
  host: string,
  port = 0,
  onSocket: (socket: Socket) => void = () => {},
): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.resume();
    onSocket(socket);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Client sockets that are made while `run` runs. */
async function socketsMade(run: (made: Socket[]) => Promise<void>): Promise<void> {
  const made: Socket[] = [];
  const onSocket = (message: unknown): void => {
    made.push((message as { socket: Socket }).socket);
  };
  subscribe('net.client.socket', onSocket);
  try {
    await run(made);
  } finally {
    unsubscribe('net.client.socket', onSocket);
  }
}

describe('the address of a destination', () => {
  test('is host:port, with brackets around IPv6', () => {
    assert.deepEqual(parseDestination('10.0.0.7:10250'), { host: '10.0.0.7', port: 10250 });
    assert.deepEqual(parseDestination('[fd00::1]:443'), { host: 'fd00::1', port: 443 });
    assert.deepEqual(parseDestination('webhook.example.:1'), { host: 'webhook.example.', port: 1 });
  });

  for (const bad of [
    '',
    'host',
    ':80',
    'host:',
    'host:0',
    'host:65536',
    'host:1e3',
    'host: 80',
    'host:80 ',
    'host:+80',
    'host:http',
    'fd00::1:443',
    '[fd00::1]',
    '[fd00::1]443',
    '[host]:80',
    '[]:80',
    'a\nb:80',
    'a/b:80',
    'http://host:80',
    `${'x'.repeat(300)}:80`,
  ]) {
    test(`is refused when it is ${JSON.stringify(bad.slice(0, 20))}`, async () => {
      await assert.rejects(connectDestination(bad, { resolver: noName, signal: never() }), (error) => {
        assert.ok(error instanceof Fault);
        assert.equal(error.code, 'bad-address');
        assert.match(error.message, /^dial tcp: address /);
        return true;
      });
    });
  }
});

describe('a connection to a destination', () => {
  test('needs no resolver for an IP address', async () => {
    const server = await listen('127.0.0.1');
    const socket = await connectDestination(`127.0.0.1:${portOf(server)}`, {
      resolver: noName,
      signal: never(),
    });
    assert.equal(socket.remotePort, portOf(server));
    socket.destroy();
    server.close();
  });

  test('has no delay, may be half-open, is unread, and keeps one listener of ours, to which errors are nothing', async () => {
    const server = await listen('127.0.0.1', 0, (socket) => socket.end('banner'));
    const socket = await connectDestination(`127.0.0.1:${portOf(server)}`, {
      resolver: noName,
      signal: never(),
    });
    socket.on('error', () => {});
    assert.equal(socket.allowHalfOpen, true);
    const noDelay = Object.getOwnPropertySymbols(socket).find(
      (symbol) => symbol.description === 'kSetNoDelay',
    );
    assert.equal((socket as unknown as Record<symbol, unknown>)[noDelay!], true);
    assert.deepEqual(
      ['error', 'connect', 'newListener', 'data', 'close', 'timeout'].map((event) =>
        socket.listenerCount(event),
      ),
      [2, 0, 0, 0, 0, 0],
    );
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    await once(socket, 'end');
    assert.equal(text, 'banner');
    socket.destroy();
    server.close();
  });

  test('that breaks before its owner listens is only destroyed', async () => {
    const server = await listen('127.0.0.1');
    const socket = await connectDestination(`127.0.0.1:${portOf(server)}`, {
      resolver: noName,
      signal: never(),
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy(new Error('reset'));
    assert.equal(await closed, true);
    server.close();
  });

  test('that is refused says so in the words of Go', async () => {
    const server = await listen('127.0.0.1');
    const port = portOf(server);
    server.close();
    await once(server, 'close');
    await assert.rejects(connectDestination(`127.0.0.1:${port}`, { resolver: noName, signal: never() }), {
      code: 'refused',
      message: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  test('names the name and the number of addresses when all of them refuse', async () => {
    const server = await listen('127.0.0.9');
    const port = portOf(server);
    const resolver = named('127.0.0.4', '127.0.0.5');
    await assert.rejects(connectDestination(`webhook.example:${port}`, { resolver, signal: never() }), {
      code: 'refused',
      message: `dial tcp 127.0.0.4:${port}: connect: connection refused (webhook.example, 2 addresses)`,
    });
    server.close();
  });

  test('goes to the next address at once when one refuses', async () => {
    const server = await listen('127.0.0.9');
    const socket = await connectDestination(`webhook.example:${portOf(server)}`, {
      resolver: named('127.0.0.4', '127.0.0.9'),
      signal: never(),
      attemptDelayMs: 3_600_000,
      timeoutMs: 7_200_000,
    });
    assert.equal(socket.remoteAddress, '127.0.0.9');
    socket.destroy();
    server.close();
  });

  test('is not begun when the signal is aborted already', async () => {
    await socketsMade(async (made) => {
      const signal = AbortSignal.abort();
      await assert.rejects(connectDestination('127.0.0.1:9', { resolver: noName, signal }), {
        code: 'cancelled',
      });
      assert.equal(made.length, 0);
    });
  });

  test('passes on why a name could not be resolved', async () => {
    const resolver = {
      resolve: async () => {
        throw new Fault('dns-failed', 'lookup a.example on 10.96.0.10:53: server misbehaving (SERVFAIL)');
      },
    };
    await assert.rejects(connectDestination('a.example:80', { resolver, signal: never() }), {
      code: 'dns-failed',
      message: 'dial tcp: lookup a.example on 10.96.0.10:53: server misbehaving (SERVFAIL)',
    });
  });

  test('gives up a resolver that is silent for the whole time-out', async () => {
    const resolver = { resolve: (_: string, signal: AbortSignal) => aborted(signal) };
    await assert.rejects(connectDestination('a.example:80', { resolver, signal: never(), timeoutMs: 1 }), {
      code: 'dns-timeout',
      message: 'dial tcp: lookup a.example: i/o timeout',
    });
  });

  test('that is cancelled while its name is looked up ends the look-up', async () => {
    const cancel = new AbortController();
    let inner: AbortSignal | undefined;
    const resolver = {
      resolve: (_: string, signal: AbortSignal) => {
        inner = signal;
        return aborted(signal);
      },
    };
    const connecting = connectDestination('a.example:80', { resolver, signal: cancel.signal });
    cancel.abort();
    assert.equal(inner?.aborted, true);
    await assert.rejects(connecting, {
      code: 'cancelled',
      message: 'dial tcp a.example:80: operation was canceled',
    });
  });
});

describe('a destination that does not answer', () => {
  let hole: BlackHole;
  before(async () => {
    hole = await openBlackHole('127.0.0.2');
  });
  after(() => hole.close());

  test('loses the race to the next address, and its socket is destroyed at once', async () => {
    const server = await listen('127.0.0.3', hole.port);
    await socketsMade(async (made) => {
      const socket = await connectDestination(`a.example:${hole.port}`, {
        resolver: named('127.0.0.2', '127.0.0.3'),
        signal: never(),
        attemptDelayMs: 1,
      });
      assert.equal(socket.remoteAddress, '127.0.0.3');
      assert.deepEqual(
        made.map((each) => each.destroyed),
        [true, false],
      );
      socket.destroy();
    });
    server.close();
  });

  test('ends with a time-out', async () => {
    await socketsMade(async (made) => {
      await assert.rejects(
        connectDestination(`127.0.0.2:${hole.port}`, { resolver: noName, signal: never(), timeoutMs: 20 }),
        { code: 'timeout', message: `dial tcp 127.0.0.2:${hole.port}: i/o timeout` },
      );
      assert.deepEqual(
        made.map((each) => each.destroyed),
        [true],
      );
    });
  });

  test('is let go in the same tick when the dial is cancelled', async () => {
    const cancel = new AbortController();
    await socketsMade(async (made) => {
      const connecting = connectDestination(`a.example:${hole.port}`, {
        resolver: named('127.0.0.2', '127.0.0.2', '127.0.0.2'),
        signal: cancel.signal,
        attemptDelayMs: 1,
      });
      while (made.length < 3) await new Promise(setImmediate);
      cancel.abort();
      assert.deepEqual(
        made.map((each) => each.destroyed),
        [true, true, true],
      );
      await assert.rejects(connecting, { code: 'cancelled' });
    });
  });

  test('delays no other, though 500 are tried at once', async () => {
    const server = await listen('127.0.0.3');
    const cancels = Array.from({ length: 500 }, () => new AbortController());
    const stuck = cancels.map(({ signal }) =>
      connectDestination(`127.0.0.2:${hole.port}`, {
        resolver: noName,
        signal,
        timeoutMs: 3_600_000,
      }),
    );
    const socket = await connectDestination(`127.0.0.3:${portOf(server)}`, {
      resolver: noName,
      signal: never(),
    });
    socket.destroy();
    for (const cancel of cancels) cancel.abort();
    const ends = await Promise.allSettled(stuck);
    assert.ok(ends.every((end) => end.status === 'rejected' && end.reason.code === 'cancelled'));
    server.close();
  });
});

describe('the order of addresses', () => {
  test('takes families in turn, IPv6 first, and keeps the order within a family', () => {
    const of = (address: string): ResolvedAddress => ({ address, family: address.includes(':') ? 6 : 4 });
    const mixed = interleaveFamilies(['1.1.1.1', '2.2.2.2', '3.3.3.3', '::1', '::2'].map(of));
    assert.deepEqual(
      mixed.map((each) => each.address),
      ['::1', '1.1.1.1', '::2', '2.2.2.2', '3.3.3.3'],
    );
  });
});

describe('what the system says of a connect', () => {
  for (const [system, code, words] of [
    ['ECONNREFUSED', 'refused', 'connect: connection refused'],
    ['EHOSTUNREACH', 'unreachable', 'connect: no route to host'],
    ['ENETUNREACH', 'unreachable', 'connect: network is unreachable'],
    ['ECONNRESET', 'reset', 'connect: connection reset by peer'],
    ['ETIMEDOUT', 'timeout', 'connect: connection timed out'],
    ['EMFILE', 'descriptors', 'socket: too many open files'],
    ['ENFILE', 'descriptors', 'socket: too many open files in system'],
    ['EWHATEVER', 'failed', 'connect: EWHATEVER'],
  ] as const) {
    test(`${system} becomes ${code}`, () => {
      const fault = connectFault('10.0.0.7:10250', Object.assign(new Error('x'), { code: system }));
      assert.equal(fault.code, code);
      assert.equal(fault.message, `dial tcp 10.0.0.7:10250: ${words}`);
    });
  }

  test('of several failures one that tells of the destination is reported', () => {
    const faults = (['unreachable', 'refused', 'timeout'] as const).map((code) => new Fault(code, code));
    assert.equal(mostTelling(faults).code, 'refused');
  });
});

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new Fault('cancelled', 'cancelled'))),
  );
}
