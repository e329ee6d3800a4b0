import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import { Descriptors } from '../../src/proxy/ops/descriptors.ts';
import { createLog } from '../../src/proxy/ops/log.ts';
import { Newcomers } from '../../src/proxy/ops/newcomers.ts';

class Accepted extends EventEmitter {
  readonly remoteAddress: string | undefined;
  destroyed = false;

  constructor(remoteAddress: string | undefined) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** `open` of 1,024 descriptors are in use: 960 less another 64 is where it gets crowded. */
function listener(open: number, most?: number) {
  const lines: string[] = [];
  const log = createLog({ verbosity: 2, write: (line) => lines.push(line) });
  const source = { limit: 1024, open, count: () => source.open, now: () => 0 };
  const newcomers = new Newcomers(new Descriptors(log, source), log, 'agent port', most);
  const accept = (host?: string): Accepted & Socket => {
    const socket = new Accepted(host) as Accepted & Socket;
    newcomers.accepted(socket);
    return socket;
  };
  return { newcomers, accept, lines, source };
}

const open = (sockets: readonly Accepted[]): boolean[] => sockets.map((socket) => !socket.destroyed);

it('connections that ask for nothing are kept while there are descriptors, up to a bound', () => {
  const { newcomers, accept, lines } = listener(100, 3);
  const sockets = Array.from({ length: 5 }, () => accept('10.0.0.1'));
  assert.deepEqual(open(sockets), [false, false, true, true, true]);
  assert.equal(newcomers.size, 3);
  assert.deepEqual(
    sockets.map((socket) => newcomers.gaveUp(socket)),
    [true, true, false, false, false],
  );
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /Too many connections that ask for nothing.* listener="agent port"/);
});

it('when descriptors get few a handful is kept, and those that asked for something stay', () => {
  const { newcomers, accept } = listener(900);
  const agents = Array.from({ length: 20 }, () => {
    const agent = accept('10.0.0.1');
    newcomers.busy(agent);
    return agent;
  });
  const flood = Array.from({ length: 100 }, () => accept('10.0.0.2'));
  assert.ok(open(agents).every((one) => one));
  assert.equal(open(flood).filter((one) => one).length, 8);
  assert.ok(open(flood.slice(-8)).every((one) => one));
});

it('the host that has most of them loses them, and no other', () => {
  const { accept } = listener(900);
  const other = accept('10.0.0.1');
  const flood = Array.from({ length: 100 }, () => accept('10.0.0.2'));
  assert.equal(other.destroyed, false);
  assert.equal(open(flood).filter((one) => one).length, 7);
});

it('a connection whose last request is over is one of them again', () => {
  const { newcomers, accept } = listener(900);
  const socket = accept();
  newcomers.busy(socket);
  assert.equal(newcomers.size, 0);
  newcomers.idle(socket);
  for (let i = 0; i < 8; i++) accept();
  assert.equal(socket.destroyed, true);
  newcomers.idle(socket);
  assert.equal(newcomers.size, 8);
});

it('a connection is followed through its handshake, and forgotten when it is closed', () => {
  const { newcomers, accept } = listener(100);
  const raw = accept('10.0.0.1');
  const secure = new Accepted('10.0.0.1') as Accepted & Socket;
  newcomers.replaced(raw, secure);
  assert.equal(newcomers.size, 1);
  raw.destroy();
  assert.equal(newcomers.size, 1);
  secure.destroy();
  assert.equal(newcomers.size, 0);
});
