import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import net, { type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { acceptHttp2Preface } from '../../src/proxy/server/authority/accept-http2-preface.ts';
import { decodeHuffman } from '../../src/proxy/server/authority/huffman.ts';
import { frame, PREFACE } from '../peers/http2-frame.ts';
import { Inbox } from '../peers/inbox.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server behind the preface; tells the authority and the body of each stream, and why sockets were refused. */
async function startServer(timeoutMs = 10_000) {
  const h2 = http2.createServer();
  const seen = new Inbox<{ authority: string | undefined; body: string }>();
  const refused = new Inbox<Fault>();
  h2.on('stream', (stream, headers) => {
    let body = '';
    stream.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    stream.on('error', () => {});
    stream.on('end', () => {
      seen.push({ authority: headers[':authority'], body });
      stream.respond({ ':status': 200 });
      stream.end('answer');
    });
  });
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    acceptHttp2Preface(socket, { timeoutMs }).then(
      () => h2.emit('connection', socket),
      (error: Fault) => {
        socket.destroy();
        refused.push(error);
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const port = (server.address() as net.AddressInfo).port;
  const connect = (): Socket => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {});
    closers.push(() => socket.destroy());
    return socket;
  };
  return { seen, refused, connect, port };
}

const END_STREAM = 0x1;
const END_HEADERS = 0x4;

const SETTINGS = frame(4, 0, 0);
const ACK = frame(4, 1, 0);

/** `:method POST`, `:scheme http`, `:path /` and the given bytes, which hold the authority. */
const block = (...authority: number[][]): Buffer => Buffer.from([0x83, 0x86, 0x84, ...authority.flat()]);
const literal = (text: string): number[] => [text.length, ...Buffer.from(text)];
// "/etc/x.sock" in the Huffman code of RFC 7541: 62 bits and padding.
const HUFFMAN_SOCKET = [0x80 | 8, 0x60, 0xa9, 0x23, 0x0f, 0x25, 0xd0, 0x72, 0x7b];

/** Plays the client's part with one request and returns what the server behind saw. */
async function request(header: Buffer, flags = END_HEADERS, type = 1) {
  const server = await startServer();
  const socket = server.connect();
  socket.write(Buffer.concat([PREFACE, SETTINGS]));
  await once(socket, 'data');
  socket.write(
    Buffer.concat([ACK, frame(type, flags, 1, header), frame(0, END_STREAM, 1, Buffer.from('body'))]),
  );
  return server.seen.next();
}

describe('the :authority of a client on a Unix socket', () => {
  it('that is a raw path is mended, in equal length, and the request goes on', async () => {
    const seen = await request(block([0x41], literal('/etc/x.sock')));
    assert.deepEqual(seen, { authority: '-etc-x.sock', body: 'body' });
  });

  it('is mended when it is a literal without indexing, or never indexed, or named in full', async () => {
    for (const form of [[0x01], [0x11], [0x40, ...literal(':authority')], [0x00, ...literal(':authority')]]) {
      const seen = await request(block(form, literal('/a/b')));
      assert.equal(seen.authority, '-a-b');
    }
  });

  it('is mended behind a table size update, in a frame with padding and priority', async () => {
    const header = Buffer.concat([Buffer.from([0x3f, 0xe1, 0x1f]), block([0x41], literal('/x'))]);
    const padded = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 15]), header, Buffer.alloc(3)]);
    const seen = await request(padded, END_HEADERS | 0x8 | 0x20);
    assert.equal(seen.authority, '-x');
  });

  it('is mended when the block is spread over CONTINUATION frames', async () => {
    const server = await startServer();
    const socket = server.connect();
    const header = block([0x41], literal('/etc/x.sock'));
    socket.write(Buffer.concat([PREFACE, SETTINGS, frame(1, END_STREAM, 1, header.subarray(0, 6))]));
    socket.write(frame(9, END_HEADERS, 1, header.subarray(6)));
    socket.write(ACK);
    assert.equal((await server.seen.next()).authority, '-etc-x.sock');
  });

  it('is mended in a block too large for one frame, which stays in several', async () => {
    const server = await startServer();
    const socket = server.connect();
    const filler = [0x00, 1, 0x78, 0x7f, 0x80 | 0x51, 0x7f, ...Buffer.alloc(0x7f + 0x51 + 0x7f * 128, 'a')];
    const header = block([0x41], literal('/etc/x.sock'), filler);
    assert.ok(header.length > 16_384);
    socket.write(Buffer.concat([PREFACE, SETTINGS, ACK, frame(1, END_STREAM, 1, header.subarray(0, 9000))]));
    socket.write(frame(9, END_HEADERS, 1, header.subarray(9000)));
    assert.equal((await server.seen.next()).authority, '-etc-x.sock');
  });

  it('is mended when its path has bytes beyond ASCII, one for one', async () => {
    const path = Buffer.from('/kübe\\x');
    const seen = await request(block([0x41], [path.length, ...path]));
    assert.equal(seen.authority, '-k--be-x');
  });

  it('that is percent-encoded, as Kubernetes 1.29 and later send it, passes untouched', async () => {
    const seen = await request(block([0x41], literal('%2Fetc%2Fx.sock')));
    assert.equal(seen.authority, '%2Fetc%2Fx.sock');
  });

  it('is mended when it comes one byte at a time', async () => {
    const server = await startServer();
    const socket = server.connect();
    const header = frame(1, END_HEADERS | END_STREAM, 1, block([0x41], literal('/etc/x.sock')));
    for (const byte of Buffer.concat([PREFACE, SETTINGS, ACK, header])) socket.write(Buffer.from([byte]));
    assert.equal((await server.seen.next()).authority, '-etc-x.sock');
  });

  it('may be followed by DATA and other requests in the same chunk', async () => {
    const server = await startServer();
    const socket = server.connect();
    const again = Buffer.from([0x83, 0x86, 0x84, 0xbe]); // 0xbe: the entry that the first request put into the table
    socket.write(
      Buffer.concat([
        PREFACE,
        SETTINGS,
        ACK,
        frame(1, END_HEADERS, 1, block([0x41], literal('/etc/x.sock'))),
        frame(0, END_STREAM, 1, Buffer.from('first')),
        frame(1, END_HEADERS | END_STREAM, 3, again),
      ]),
    );
    const both = [await server.seen.next(), await server.seen.next()];
    assert.deepEqual(
      both.map((s) => s.authority),
      ['-etc-x.sock', '-etc-x.sock'],
    );
  });
});

describe('Huffman-coded values', () => {
  it('of every byte of a header value decode as nghttp2 codes them', async () => {
    let block = Buffer.alloc(0);
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.write(SETTINGS);
      socket.on('data', (chunk) => {
        block = Buffer.concat([block, chunk]);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    const client = http2.connect(`http://127.0.0.1:${(server.address() as net.AddressInfo).port}`);
    client.on('error', () => {});
    closers.push(() => client.destroy());
    // From "!" to "ÿ" without DEL and its like, which are no header value; short codes make Huffman worth it to nghttp2.
    const all = Array.from({ length: 0x100 - 0x21 }, (_, i) => String.fromCharCode(0x21 + i));
    const text = `${all.filter((c) => c !== '\x7f').join('')}${'aceiost'.repeat(200)}`;
    client.request({ ':path': '/', x: text }).on('error', () => {});
    const find = (): string | undefined => {
      // The name is a literal of one byte, "x" plain or Huffman-coded; a value of 127 bytes or more follows.
      const name = [Buffer.from([1, 0x78, 0xff]), Buffer.from([0x81, 0xf3, 0xff])].map((b) =>
        block.indexOf(b),
      );
      const at = Math.max(...name);
      if (at < 0 || at + 5 > block.length) return undefined;
      const [low, high] = [block[at + 3] as number, block[at + 4] as number];
      assert.ok(low >= 0x80 && high < 0x80, 'the length has two bytes');
      const start = at + 5;
      const end = start + 127 + (low & 0x7f) + (high << 7);
      return end > block.length ? undefined : decodeHuffman(block.subarray(start, end));
    };
    while (find() === undefined) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(find(), text);
  });

  it('that are a raw path are mended', async () => {
    const text = decodeHuffman(Buffer.from(HUFFMAN_SOCKET.slice(1)));
    const seen = await request(block([0x41], HUFFMAN_SOCKET));
    assert.equal(seen.authority, text?.replaceAll('/', '-'));
    assert.match(text ?? '', /\//);
  });

  it('with codes that do not exist are left alone', () => {
    assert.equal(decodeHuffman(Buffer.from([0xff, 0xff, 0xff, 0xff])), undefined);
  });
});

describe('a connection to a gRPC Unix socket', () => {
  it('of a real HTTP/2 client serves many streams', async () => {
    const server = await startServer();
    const client = http2.connect(`http://127.0.0.1:${server.port}`);
    closers.push(() => client.destroy());
    for (let i = 0; i < 50; i++) {
      const stream = client.request({ ':method': 'POST', ':path': '/' });
      stream.end(`${i}`);
      stream.resume();
      await once(stream, 'end');
    }
    assert.equal(server.seen.all.length, 50);
  });

  it('that speaks something else is refused at its first wrong byte', async () => {
    const server = await startServer();
    server.connect().write('GET / HTTP/1.1\r\n\r\n');
    assert.equal((await server.refused.next()).code, 'not-http2');
  });

  it('that never asks for anything is closed after a while', async () => {
    const server = await startServer(30);
    server.connect().write(PREFACE);
    assert.equal((await server.refused.next()).code, 'preface-timeout');
  });

  it('that is dropped before its first request is forgotten at once', async () => {
    const server = await startServer();
    const socket = server.connect();
    socket.write(PREFACE);
    await once(socket, 'data');
    socket.destroy();
    assert.equal((await server.refused.next()).code, 'preface-lost');
  });

  it('cannot fill memory before its first request', async () => {
    const server = await startServer();
    const socket = server.connect();
    socket.write(Buffer.concat([PREFACE, SETTINGS, ACK]));
    const big = frame(0xfe, 0, 0, Buffer.alloc(16_000));
    for (let i = 0; i < 20; i++) socket.write(big);
    const fault = await server.refused.next();
    assert.ok(fault instanceof Fault);
    assert.equal(fault.code, 'not-http2');
  });
});
