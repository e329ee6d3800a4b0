import { decodeFrame } from '../../src/proxy/wire/decode.ts';
import { Deframer } from '../../src/proxy/wire/deframer.ts';
import { encodeDataFrame, encodeFrame } from '../../src/proxy/wire/encode.ts';
import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { closeRequest, dialRequest } from '../../src/proxy/wire/packets.ts';
import { type Call, Http2Connection } from './http2-connection.ts';
import { callHeaders } from './http2-frames.ts';
import type { Tunnel, TunnelHandler } from './tunnel.ts';

/** kube-apiserver's largest DATA packet. */
const MAX_DATA_BYTES = 32 * 1024;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const CALL_HEADERS = callHeaders('/ProxyService/Proxy');

type State = 'dialling' | 'open' | 'closing' | 'closed';

/**
 * One dial as kube-apiserver makes it: one call of `ProxyService.Proxy`, on a connection of its own, or on one that is
 * shared with all other dials.
 */
export class GrpcTunnel implements Tunnel {
  readonly #connection: Http2Connection;
  readonly #shared: boolean;
  readonly #handler: TunnelHandler;
  #call: Call | undefined;
  #state: State = 'dialling';
  #connectId = 0;
  #fault: string | undefined;
  // Bulk load sends the same block again and again.
  #lastBytes: Buffer | undefined;
  #lastFrames: readonly Buffer[] = [];

  /** @param where the Unix socket of a connection of its own, or a connection that is shared */
  constructor(where: string | Http2Connection, target: string, handler: TunnelHandler) {
    this.#handler = handler;
    this.#shared = typeof where !== 'string';
    this.#connection =
      typeof where === 'string'
        ? new Http2Connection({ path: where }, (fault) => this.#closed(fault))
        : where;
    const deframer = new Deframer(MAX_MESSAGE_BYTES, (message) => {
      this.#onPacket(decodeFrame(message));
      return true;
    });
    const call = {
      onData: (bytes: Buffer): void => {
        const fault = deframer.push(bytes);
        if (fault !== undefined) this.#fail(`a message is ${fault}`);
      },
      onDrain: (): void => handler.onDrain(),
      onEnd: (fault: string | undefined): void => this.#ended(fault),
    };
    this.#connection.begin(CALL_HEADERS, call, (begun) => {
      this.#call = begun;
      begun.send(encodeFrame(dialRequest(randomDialId(), target)));
    });
  }

  send(bytes: Buffer): boolean {
    if (bytes !== this.#lastBytes) {
      this.#lastBytes = bytes;
      this.#lastFrames = this.#encode(bytes);
    }
    let more = true;
    for (const message of this.#lastFrames) more = this.#call?.send(message) ?? true;
    return more;
  }

  pause(): void {
    this.#connection.pause();
  }

  close(): void {
    this.#state = 'closing';
    this.#call?.send(encodeFrame(closeRequest(this.#connectId)));
  }

  destroy(): void {
    this.#connection.destroy();
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
        if (this.#state !== 'closing') this.#fault ??= `the tunnel was closed: ${packet.error}`;
        // Upstream's client closes its connection now; where others share it, only the call can end.
        if (this.#shared) this.#call?.end();
        else this.#leave();
        break;
    }
  }

  /** The call is over, which on a shared connection is the end of it all. */
  #ended(fault: string | undefined): void {
    if (this.#shared) this.#closed(fault);
    else this.#leave();
  }

  /** The destination is gone, or the call over: says good-bye to the connection. */
  #leave(): void {
    if (this.#state === 'closed') return;
    if (this.#state !== 'closing') this.#fault ??= `the call ended while ${this.#state}`;
    this.#state = 'closed';
    this.#connection.leave();
  }

  #closed(fault: string | undefined): void {
    const found = this.#fault ?? fault;
    const asked = this.#state === 'closing' || this.#state === 'closed';
    if (asked && found === undefined) this.#handler.onClosed(undefined);
    else this.#handler.onClosed(found ?? 'the tunnel ended by itself');
  }

  #fail(fault: string): void {
    this.#fault ??= fault;
    this.#connection.destroy();
  }
}

/** A positive int64, as upstream's clients draw it. */
function randomDialId(): bigint {
  const half = (limit: number): bigint => BigInt(Math.floor(Math.random() * limit));
  return (half(2 ** 31) << 32n) | half(2 ** 32);
}
