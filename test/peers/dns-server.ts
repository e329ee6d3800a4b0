import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import { createServer, isIPv4, type Server, type Socket } from 'node:net';

export interface DnsServerScript {
  /** Addresses of both families by name; a name that is not here does not exist. */
  records?: Record<string, readonly string[]>;
  ttlSeconds?: number;
  /** Questions, written as `name TYPE`, that get no answer. */
  silent?: RegExp;
  /** Questions that are answered with SERVFAIL. */
  failing?: RegExp;
  /** What is sent instead of the honest answer, in this order. */
  instead?: (answer: Buffer, question: string) => readonly Buffer[];
  /** Takes connections, which come after an answer that says it is cut; without it they are refused. */
  onConnection?: (socket: Socket, answer: (query: Buffer) => Buffer) => void;
}

export interface DnsServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Every question that came, as `name TYPE`, repetitions too. */
  readonly questions: string[];
  /** May be changed at any time. */
  script: DnsServerScript;
  /** Resolves when a connection is open. */
  connected(): Promise<void>;
  /** Resolves when no connection is open. */
  disconnected(): Promise<void>;
  /** Resolves when `count` questions matching the pattern have come. */
  asked(pattern: RegExp, count?: number): Promise<void>;
  close(): Promise<void>;
}

const TYPES: Record<number, string> = { 1: 'A', 28: 'AAAA' };

/** A name server on loopback that does what its script says. */
export async function startDnsServer(script: DnsServerScript): Promise<DnsServer> {
  const events = new EventEmitter();
  const questions: string[] = [];
  const sockets = new Set<Socket>();
  const tcp = createServer((connection) => {
    sockets.add(connection);
    connection.on('error', () => {});
    // Its end is not seen otherwise.
    connection.resume();
    events.emit('connected');
    connection.on('close', () => {
      sockets.delete(connection);
      events.emit('gone');
    });
    server.script.onConnection?.(connection, (query) => answerTo(query, server.script));
  });
  const { socket, port } = await bindBoth(script.onConnection === undefined ? undefined : tcp);
  const server: DnsServer = {
    address: `127.0.0.1:${port}`,
    questions,
    script,
    asked: async (pattern, count = 1) => {
      while (questions.filter((question) => pattern.test(question)).length < count)
        await once(events, 'question');
    },
    connected: async () => {
      while (sockets.size === 0) await once(events, 'connected');
    },
    disconnected: async () => {
      while (sockets.size > 0) await once(events, 'gone');
    },
    close: async () => {
      for (const connection of sockets) connection.destroy();
      tcp.close();
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (message, from) => {
    const { name, type } = readQuestion(message);
    const question = `${name} ${type}`;
    questions.push(question);
    events.emit('question');
    if (server.script.silent?.test(question)) return;
    const answer = answerTo(message, server.script);
    const packets = server.script.instead?.(answer, question) ?? [answer];
    for (const packet of packets) socket.send(packet, from.port, from.address, () => {});
  });
  return server;
}

/** A UDP socket and the connections' listener on one port, which is free for both. */
async function bindBoth(tcp: Server | undefined): Promise<{ socket: DatagramSocket; port: number }> {
  for (;;) {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    if (tcp === undefined) return { socket, port };
    try {
      await once(tcp.listen(port, '127.0.0.1'), 'listening');
      return { socket, port };
    } catch (error) {
      socket.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** The honest answer, of any length. */
function answerTo(query: Buffer, { records = {}, ttlSeconds = 60, failing }: DnsServerScript): Buffer {
  const { name, type, end } = readQuestion(query);
  const known = records[name];
  const code = failing?.test(`${name} ${type}`) ? 2 : known === undefined ? 3 : 0;
  const addresses = code === 0 ? known!.filter((address) => isIPv4(address) === (type === 'A')) : [];
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const answers = addresses.map((address) => resourceRecord(address, ttlSeconds));
  return Buffer.concat([head, query.subarray(12, end), ...answers]);
}

function readQuestion(message: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1);
  return { name: labels.join('.').toLowerCase(), type: TYPES[type] ?? String(type), end: at + 5 };
}

function resourceRecord(address: string, ttlSeconds: number): Buffer {
  const v4 = isIPv4(address);
  const data = v4 ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(v4 ? 1 : 28, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlSeconds, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function ipv6Bytes(address: string): Buffer {
  const [before = '', after] = address.split('::');
  const left = before.split(':').filter(Boolean);
  const right = (after ?? '').split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  const bytes = Buffer.alloc(16);
  for (const [i, group] of groups.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), i * 2);
  return bytes;
}
