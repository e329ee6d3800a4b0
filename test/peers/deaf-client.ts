import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { frame, PREFACE } from './http2-frame.ts';

const [HEADERS, SETTINGS, WINDOW_UPDATE] = [1, 4, 8] as const;
const [ACK, END_HEADERS] = [1, 4] as const;

/** A client of gRPC that grants whatever HTTP/2 windows there are, and reads nothing from its connection. */
export class DeafClient {
  readonly socket: Socket;
  #streams = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  static async connect(port: number): Promise<DeafClient> {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    const window = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);
    const update = Buffer.from([0x7f, 0xff, 0, 0]);
    socket.write(PREFACE);
    socket.write(Buffer.concat([frame(SETTINGS, 0, 0, window), frame(SETTINGS, ACK, 0)]));
    socket.write(frame(WINDOW_UPDATE, 0, 0, update));
    return new DeafClient(socket);
  }

  /** Makes a call, and sends these gRPC frames on it. */
  call(path: string, ...frames: Buffer[]): void {
    const id = 1 + 2 * this.#streams++;
    const block = Buffer.concat([
      Buffer.from([0x83, 0x86]), // POST, http
      field(':authority', 'x'),
      field(':path', path),
      field('content-type', 'application/grpc'),
      field('te', 'trailers'),
      field('agentid', 'deaf'),
    ]);
    this.socket.write(frame(HEADERS, END_HEADERS, id, block));
    for (const data of frames) this.socket.write(frame(0, 0, id, data));
  }
}

/** A header without index and without Huffman code. */
function field(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}
