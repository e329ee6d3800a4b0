import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { decodeFrame } from '../../src/proxy/wire/decode.ts';
import { Deframer } from '../../src/proxy/wire/deframer.ts';
import { encodeDataFrame, encodeFrame } from '../../src/proxy/wire/encode.ts';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { closeRequest, dialRequest } from '../../src/proxy/wire/packets.ts';
import {
  CALL_HEADERS,
  DEFAULT_WINDOW_BYTES,
  Flag,
  FrameType,
  frame,
  GOAWAY,
  readSettings,
  SETTINGS_ACK,
  Setting,
  STREAM_ID,
  settings,
  windowUpdate,
} from './http2-frames.ts';
import { Http2Reader } from './http2-reader.ts';
import { Http2Sender } from './http2-sender.ts';
import { READ_BUFFER } from './read-buffer.ts';
import type { Tunnel, TunnelHandler } from './tunnel.ts';

/** kube-apiserver's largest DATA packet. */
const MAX_DATA_BYTES = 32 * 1024;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** As far as grpc-go lets its windows grow; granted again whenever a quarter of it is used. */
const WINDOW_BYTES = 16 * 1024 * 1024;

const OPENING = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1'),
  settings({ [Setting.INITIAL_WINDOW_SIZE]: WINDOW_BYTES }),
  windowUpdate(0, WINDOW_BYTES - DEFAULT_WINDOW_BYTES),
]);

type State = 'settings' | 'dialling' | 'open' | 'closing' | 'closed';

/** One dial as kube-apiserver makes it: a Unix connection of its own, with one call of `ProxyService.Proxy`. */
export class GrpcTunnel implements Tunnel {
  readonly #socket: Socket;
  readonly #sender: Http2Sender;
  readonly #handler: TunnelHandler;
  readonly #target: string;
  #state: State = 'settings';
  #connectId = 0;
  #ungranted = 0;
  #paused = false;
  #fault: string | undefined;
  // Bulk load sends the same block again and again.
  #lastBytes: Buffer | undefined;
  #lastFrames: readonly Buffer[] = [];

  constructor(socketPath: string, target: string, handler: TunnelHandler) {
    this.#handler = handler;
    this.#target = target;
    const deframer = new Deframer(MAX_MESSAGE_BYTES, (message) => {
      this.#onPacket(decodeFrame(message));
      return true;
    });
    const reader = new Http2Reader({
      onDataPart: (bytes) => {
        this.#ungranted += bytes.length;
        const fault = deframer.push(bytes);
        if (fault !== undefined) this.#fail(`a message is ${fault}`);
      },
      onDataEnd: (flags) => this.#onDataEnd(flags),
      onFrame: (type, flags, streamId, payload) => this.#onFrame(type, flags, streamId, payload),
    });
    const onread = {
      buffer: READ_BUFFER,
      callback: (bytes: number, buffer: Uint8Array): boolean => {
        reader.push((buffer as Buffer).subarray(0, bytes));
        return !this.#paused;
      },
    };
    this.#socket = connect({ path: socketPath, onread } as unknown as TcpNetConnectOpts);
    this.#sender = new Http2Sender(this.#socket, () => this.#handler.onDrain());
    this.#socket.write(OPENING);
    this.#socket.on('error', (error) => {
      this.#fault ??= error.message;
    });
    this.#socket.on('close', () => {
      const asked = this.#state === 'closing' || this.#state === 'closed';
      if (asked && this.#fault === undefined) this.#handler.onClosed(undefined);
      else this.#handler.onClosed(this.#fault ?? 'the tunnel ended by itself');
    });
  }

  send(bytes: Buffer): boolean {
    if (bytes !== this.#lastBytes) {
      this.#lastBytes = bytes;
      this.#lastFrames = this.#encode(bytes);
    }
    let more = true;
    for (const message of this.#lastFrames) more = this.#sender.send(message);
    return more;
  }

  pause(): void {
    // Takes effect by the answer to the read that is being handled, or to the next one.
    this.#paused = true;
  }

  close(): void {
    this.#state = 'closing';
    this.#sender.send(encodeFrame(closeRequest(this.#connectId)));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #encode(bytes: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += MAX_DATA_BYTES) {
      frames.push(encodeDataFrame(this.#connectId, bytes.subarray(at, at + MAX_DATA_BYTES)));
    }
    return frames;
  }

  #onPacket(packet: Packet): void {
    switch (packet.type) {
      case PacketType.DATA:
        if (packet.data.length > 0) this.#handler.onData(packet.data);
        break;
      case PacketType.DIAL_RSP:
        if (packet.error !== '' || packet.connectId === 0) {
          this.#fail(`the dial failed: ${packet.error}`);
          return;
        }
        this.#connectId = packet.connectId;
        this.#state = 'open';
        this.#handler.onOpen();
        break;
      case PacketType.CLOSE_RSP:
        if (this.#state !== 'closing') this.#fault = `the tunnel was closed: ${packet.error}`;
        this.#leave();
        break;
    }
  }

  #onDataEnd(flags: number): void {
    if ((flags & Flag.PADDED) !== 0) this.#fail('padded frames are not understood');
    if (this.#ungranted >= WINDOW_BYTES / 4) {
      const grants = [windowUpdate(0, this.#ungranted), windowUpdate(STREAM_ID, this.#ungranted)];
      this.#write(Buffer.concat(grants));
      this.#ungranted = 0;
    }
    if ((flags & Flag.END_STREAM) !== 0) this.#leave();
  }

  #onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    switch (type) {
      case FrameType.SETTINGS:
        if ((flags & Flag.ACK) === 0) this.#onSettings(payload);
        break;
      case FrameType.PING:
        if ((flags & Flag.ACK) === 0) this.#write(frame(FrameType.PING, Flag.ACK, 0, payload));
        break;
      case FrameType.WINDOW_UPDATE:
        this.#sender.grant(streamId, payload.readUInt32BE(0));
        break;
      case FrameType.HEADERS:
        if ((flags & Flag.END_STREAM) !== 0) this.#leave();
        break;
      case FrameType.RST_STREAM:
      case FrameType.GOAWAY:
        this.#leave();
        break;
    }
  }

  #onSettings(payload: Buffer): void {
    this.#socket.cork();
    this.#socket.write(SETTINGS_ACK);
    this.#sender.configure(readSettings(payload));
    if (this.#state === 'settings') {
      this.#state = 'dialling';
      this.#socket.write(CALL_HEADERS);
      this.#sender.send(encodeFrame(dialRequest(randomDialId(), this.#target)));
    }
    this.#socket.uncork();
  }

  /** What the connection itself asks for; nothing once we said good-bye, though the peer may still ping. */
  #write(bytes: Buffer): void {
    if (!this.#socket.writableEnded) this.#socket.write(bytes);
  }

  /** The call is over, or the destination gone: says good-bye to the connection. */
  #leave(): void {
    if (this.#state === 'closed') return;
    if (this.#state !== 'closing') this.#fault ??= `the call ended while ${this.#state}`;
    this.#state = 'closed';
    this.#socket.end(GOAWAY);
  }

  #fail(fault: string): void {
    this.#fault ??= fault;
    this.#socket.destroy();
  }
}

/** A positive int64, as upstream's clients draw it. */
function randomDialId(): bigint {
  const half = (limit: number): bigint => BigInt(Math.floor(Math.random() * limit));
  return (half(2 ** 31) << 32n) | half(2 ** 32);
}
