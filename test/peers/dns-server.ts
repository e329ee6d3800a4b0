import { createSocket } from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import { isIPv4 } from 'node:net';

export interface DnsServerScript {
  /** Addresses of both families by name; a name that is not here does not exist. */
  records?: Record<string, readonly string[]>;
  ttlSeconds?: number;
  /** Questions, written as `name TYPE`, that get no answer. */
  silent?: RegExp;
  /** Questions that are answered with SERVFAIL. */
  failing?: RegExp;
}

export interface DnsServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Every question that came, as `name TYPE`, repetitions too. */
  readonly questions: string[];
  /** May be changed at any time. */
  script: DnsServerScript;
  /** Resolves when `count` questions matching the pattern have come. */
  asked(pattern: RegExp, count?: number): Promise<void>;
  close(): Promise<void>;
}

const TYPES: Record<number, string> = { 1: 'A', 28: 'AAAA' };

/** A name server on loopback that does what its script says. */
export async function startDnsServer(script: DnsServerScript): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const events = new EventEmitter();
  const questions: string[] = [];
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    script,
    asked: async (pattern, count = 1) => {
      while (questions.filter((question) => pattern.test(question)).length < count)
        await once(events, 'question');
    },
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (message, from) => {
    const { name, type, end } = readQuestion(message);
    const question = `${name} ${type}`;
    questions.push(question);
    events.emit('question');
    const { records = {}, ttlSeconds = 60, silent, failing } = server.script;
    if (silent?.test(question)) return;
    const known = records[name];
    const code = failing?.test(question) ? 2 : known === undefined ? 3 : 0;
    const addresses = code === 0 ? known!.filter((address) => isIPv4(address) === (type === 'A')) : [];
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const answers = addresses.map((address) => resourceRecord(address, ttlSeconds));
    socket.send(Buffer.concat([head, message.subarray(12, end), ...answers]), from.port, from.address);
  });
  return server;
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
