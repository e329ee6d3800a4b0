import type { SecureContext } from 'node:tls';
import { decodeFrame } from '../../src/proxy/wire/decode.ts';
import { Deframer } from '../../src/proxy/wire/deframer.ts';
import { encodeDataFrame, encodeFrame } from '../../src/proxy/wire/encode.ts';
import { blankStatus, type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { closeResponse, dialResponse, pong, status } from '../../src/proxy/wire/packets.ts';
import { type Call, Http2Connection } from '../load/http2-connection.ts';
import { callHeaders } from '../load/http2-frames.ts';

const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

export interface AgentIdentity {
  readonly id: string;
  /** Addresses that it serves before all others. */
  readonly hosts: readonly string[];
  /** Whether it announces itself as one of ours, answers probes and tells its state; a Go agent does not. */
  readonly announces: boolean;
}

/** An agent as small as can be: one connection with one stream, and every tunnel ends in an echo within it. */
export class SimulatedAgent {
  readonly #announces: boolean;
  readonly #connection: Http2Connection;
  #call: Call | undefined;
  #nextId = 1;

  /**
   * @param onReady the server took the stream
   * @param onEnd the connection is closed
   */
  constructor(
    port: number,
    secureContext: SecureContext,
    { id, hosts, announces }: AgentIdentity,
    onReady: () => void,
    onEnd: (fault: string) => void,
  ) {
    this.#announces = announces;
    this.#connection = new Http2Connection({ host: '127.0.0.1', port, secureContext }, (fault) =>
      onEnd(fault ?? 'the server closed the connection'),
    );
    const deframer = new Deframer(MAX_MESSAGE_BYTES, (message) => {
      this.#onPacket(decodeFrame(message));
      return true;
    });
    const headers = callHeaders('/AgentService/Connect', {
      agentid: id,
      agentidentifiers: [`host=${id}`, ...hosts.map((host) => `ipv4=${host}`)].join('&'),
      ...(announces ? { 'kts-features': 'ping,status', 'kts-instance': id } : {}),
    });
    const handler = {
      onHeaders: onReady,
      onData: (bytes: Buffer): void => {
        deframer.push(bytes);
      },
      onDrain: (): void => {},
      onEnd: (): void => this.#connection.destroy(),
    };
    this.#connection.begin(headers, handler, (call) => {
      this.#call = call;
      this.tell(0);
    });
  }

  /** Says how many tunnels it has; a lie, so that something changes. */
  tell(tunnels: number): void {
    if (this.#announces) this.#send(status({ ...blankStatus(), serverIds: ['bench'], tunnels }));
  }

  destroy(): void {
    this.#connection.destroy();
  }

  #onPacket(packet: Packet): void {
    switch (packet.type) {
      case PacketType.DIAL_REQ:
        this.#send(dialResponse(packet.dialId, this.#nextId++));
        break;
      case PacketType.DATA:
        // The packet is a view of what is read into again.
        this.#call?.send(encodeDataFrame(packet.connectId, Buffer.from(packet.data)));
        break;
      case PacketType.CLOSE_REQ:
        this.#send(closeResponse(packet.connectId));
        break;
      case PacketType.PING:
        this.#send(pong(packet.amount));
        break;
    }
  }

  #send(packet: Packet): void {
    this.#call?.send(encodeFrame(packet));
  }
}
