import { once } from 'node:events';
import { createServer } from 'node:http2';

/** The ID of the one agent. */
export const STUB_AGENT = 'stub-agent';

/** As much of an admin service (proto/admin.proto) as commands need to run to their end while a bundle is built. */
export class StubServer {
  address;
  listening;
  #server;
  #sessions = new Set();

  constructor(path) {
    this.address = `unix://${path}`;
    this.#server = createServer().on('stream', answer);
    this.#server.on('session', (session) => this.#sessions.add(session));
    this.listening = once(this.#server.listen(path), 'listening');
  }

  close() {
    this.#server.close();
    for (const session of this.#sessions) session.destroy();
  }
}

function answer(stream, headers) {
  stream.on('error', () => {});
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
  const method = headers[':path'].split('/').at(-1);
  const message = method === 'GetServer' ? SERVER : method === 'WatchAgents' ? CHANGE : Buffer.alloc(0);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.write(Buffer.concat([head, message]));
  // A watch goes on.
  if (method !== 'WatchAgents') stream.end();
}

/** A field with a message or a string of less than 128 bytes. */
function field(number, value = '') {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}

const yes = (number) => Buffer.from([number * 8, 1]);

// id, version, epoch, started_at, totals, caller.role
const SERVER = Buffer.concat([
  field(1, 'stub'),
  field(2, '0'),
  field(3, 'e'),
  field(4),
  field(9),
  field(12, field(2, 'operator')),
]);
// id, state, kind, identifiers
const AGENT = Buffer.concat([
  field(1, STUB_AGENT),
  field(2, 'ready'),
  field(7, 'ts'),
  field(10, Buffer.concat([field(1, 'ipv4'), field(2, '10.0.0.1')])),
]);
// snapshot, snapshot_complete, changed, server
const CHANGE = Buffer.concat([yes(1), yes(2), field(5, AGENT), field(7, SERVER)]);
