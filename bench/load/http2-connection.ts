import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import {
  DEFAULT_WINDOW_BYTES,
  FIRST_STREAM_ID,
  Flag,
  FrameType,
  frame,
  GOAWAY,
  readSettings,
  SETTINGS_ACK,
  Setting,
  settings,
  windowUpdate,
} from './http2-frames.ts';
import { Http2Reader } from './http2-reader.ts';
import { Http2SendWindows } from './http2-send-windows.ts';
import type { Http2Sender } from './http2-sender.ts';
import { READ_BUFFER } from './read-buffer.ts';

/** As far as grpc-go lets its windows grow; granted again whenever a quarter of it is used. */
const WINDOW_BYTES = 16 * 1024 * 1024;

const OPENING = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1'),
  settings({ [Setting.INITIAL_WINDOW_SIZE]: WINDOW_BYTES }),
  windowUpdate(0, WINDOW_BYTES - DEFAULT_WINDOW_BYTES),
]);
const NOTHING = Buffer.alloc(0);

/** What a call learns. */
export interface CallHandler {
  /** The server took the call. */
  onHeaders?(): void;
  /** Part of the response; the view is valid during the call only. */
  onData(bytes: Buffer): void;
  onDrain(): void;
  /** Once: the response's end, or that of the connection with what is wrong about it. */
  onEnd(fault: string | undefined): void;
}

/** A call that was begun: its request has no end until end(). */
export interface Call {
  /** False: wait for onDrain. */
  send(bytes: Buffer): boolean;
  end(): void;
}

interface OpenCall extends CallHandler {
  /** Received and not granted again. */
  ungranted: number;
}

export type Http2Target =
  | { readonly path: string }
  | { readonly host: string; readonly port: number; readonly secureContext: SecureContext };

/** The client's end of an HTTP/2 connection, by hand (http2-frames.ts). Calls are begun when the server's SETTINGS came. */
export class Http2Connection {
  readonly #socket: Socket;
  readonly #windows: Http2SendWindows;
  readonly #calls = new Map<number, OpenCall>();
  #waiting: (() => void)[] | undefined = [];
  #nextStreamId = FIRST_STREAM_ID;
  #ungranted = 0;
  #paused = false;
  #fault: string | undefined;

  /** @param onClosed once, when the descriptor is closed; with a fault if there was one */
  constructor(target: Http2Target, onClosed: (fault: string | undefined) => void) {
    const reader = new Http2Reader({
      onDataPart: (bytes, streamId) => this.#onDataPart(bytes, streamId),
      onDataEnd: (flags, streamId) => this.#onDataEnd(flags, streamId),
      onFrame: (type, flags, streamId, payload) => this.#onFrame(type, flags, streamId, payload),
    });
    const onread = {
      buffer: READ_BUFFER,
      callback: (bytes: number, buffer: Uint8Array): boolean => {
        reader.push((buffer as Buffer).subarray(0, bytes));
        return !this.#paused;
      },
    };
    const options = { ...target, noDelay: true, onread };
    this.#socket =
      'path' in target
        ? connect(options as unknown as TcpNetConnectOpts)
        : connectTls({ ...options, servername: 'localhost', ALPNProtocols: ['h2'] } as object);
    this.#windows = new Http2SendWindows(this.#socket);
    this.#socket.write(OPENING);
    // tls.connect() heeds no such option, and what it sends would wait for delayed acknowledgements.
    this.#socket.once('secureConnect', () => this.#socket.setNoDelay(true));
    this.#socket.on('error', (error) => {
      this.#fault ??= error.message;
    });
    this.#socket.on('close', () => {
      for (const streamId of [...this.#calls.keys()])
        this.#endCall(streamId, this.#fault ?? 'the connection ended');
      onClosed(this.#fault);
    });
  }

  /** Begins a call as soon as the server's SETTINGS are here, and hands it over. */
  begin(headers: Buffer, handler: CallHandler, onBegun: (call: Call) => void): void {
    const begin = (): void => {
      const streamId = this.#nextStreamId;
      this.#nextStreamId += 2;
      this.#calls.set(streamId, {
        onHeaders: () => handler.onHeaders?.(),
        onData: (bytes) => handler.onData(bytes),
        onDrain: () => handler.onDrain(),
        onEnd: (fault) => handler.onEnd(fault),
        ungranted: 0,
      });
      const sender: Http2Sender = this.#windows.open(streamId, () => handler.onDrain());
      this.#socket.cork();
      this.#socket.write(frame(FrameType.HEADERS, Flag.END_HEADERS, streamId, headers));
      onBegun({
        send: (bytes) => sender.send(bytes),
        end: () => this.#write(frame(FrameType.DATA, Flag.END_STREAM, streamId, NOTHING)),
      });
      this.#socket.uncork();
    };
    if (this.#waiting === undefined) begin();
    else this.#waiting.push(begin);
  }

  /** Reads nothing more, for good: takes effect by the answer to the read that is being handled, or to the next one. */
  pause(): void {
    this.#paused = true;
  }

  /** Says good-bye and ends the connection. */
  leave(): void {
    if (!this.#socket.writableEnded) this.#socket.end(GOAWAY);
  }

  /** Cuts it. */
  destroy(fault?: string): void {
    this.#fault ??= fault;
    this.#socket.destroy();
  }

  #onDataPart(bytes: Buffer, streamId: number): void {
    this.#ungranted += bytes.length;
    const call = this.#calls.get(streamId);
    if (call === undefined) return;
    call.ungranted += bytes.length;
    call.onData(bytes);
  }

  #onDataEnd(flags: number, streamId: number): void {
    if ((flags & Flag.PADDED) !== 0) this.destroy('padded frames are not understood');
    const grants: Buffer[] = [];
    if (this.#ungranted >= WINDOW_BYTES / 4) {
      grants.push(windowUpdate(0, this.#ungranted));
      this.#ungranted = 0;
    }
    const call = this.#calls.get(streamId);
    if (call !== undefined && call.ungranted >= WINDOW_BYTES / 4) {
      grants.push(windowUpdate(streamId, call.ungranted));
      call.ungranted = 0;
    }
    if (grants.length > 0) this.#write(Buffer.concat(grants));
    if ((flags & Flag.END_STREAM) !== 0) this.#endCall(streamId, undefined);
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
        this.#windows.grant(streamId, payload.readUInt32BE(0));
        break;
      case FrameType.HEADERS:
        if ((flags & Flag.END_STREAM) !== 0) this.#endCall(streamId, undefined);
        else this.#calls.get(streamId)?.onHeaders?.();
        break;
      case FrameType.RST_STREAM:
        this.#endCall(streamId, `the call was reset with ${payload.readUInt32BE(0)}`);
        break;
      case FrameType.GOAWAY:
        for (const open of [...this.#calls.keys()]) this.#endCall(open, 'the server said good-bye');
        this.leave();
        break;
    }
  }

  #onSettings(payload: Buffer): void {
    this.#socket.cork();
    this.#write(SETTINGS_ACK);
    this.#windows.configure(readSettings(payload));
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const begin of waiting) begin();
    this.#socket.uncork();
  }

  #endCall(streamId: number, fault: string | undefined): void {
    const call = this.#calls.get(streamId);
    if (call === undefined) return;
    this.#calls.delete(streamId);
    this.#windows.close(streamId);
    call.onEnd(fault);
  }

  /** Nothing once we said good-bye, though the peer may still ping. */
  #write(bytes: Buffer): void {
    if (!this.#socket.writableEnded) this.#socket.write(bytes);
  }
}
