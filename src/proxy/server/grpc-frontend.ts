import { type CloseReason, isAbnormal } from '../wire/close-reason.ts';
import { type Packet, PacketType } from '../wire/packet.ts';
import type { PacketStream, StreamEnd } from '../wire/packet-stream.ts';
import { closeResponse, dialFailure } from '../wire/packets.ts';
import type { DialFailure } from './dial-failure.ts';
import type { Frontend, FrontendDial, FrontendTunnel } from './frontend.ts';
import { Hold } from './hold.ts';
import type { Tails } from './tails.ts';
import type { WriteClock } from './write-clock.ts';

const OK = 0;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;

/** What a Proxy stream needs from the server. */
export interface GrpcFrontendOptions {
  readonly client: string;
  readonly tails: Tails;
  /** Makes and starts a dial whose DIAL_REQ is `request`, a gRPC frame. */
  dial(frontend: Frontend, id: bigint, address: string, request: Buffer): FrontendDial;
  /** How long everything is held after DIAL_RSP. */
  readonly holdMs: number;
  /** How long a stream may be open without its DIAL_REQ. */
  readonly firstPacketTimeoutMs: number;
  /** The stream is over, for gauges and logs. */
  onEnd(end: StreamEnd): void;
  /** The client broke the protocol; its stream is ended. */
  onProtocolError(what: string): void;
  readonly writes: WriteClock;
}

type State =
  | { readonly name: 'new'; readonly timer: NodeJS.Timeout }
  | { readonly name: 'dialling'; readonly dial: FrontendDial | undefined }
  | { readonly name: 'established'; readonly tunnel: FrontendTunnel; readonly hold: Hold }
  | { readonly name: 'ended' };

/** A `ProxyService/Proxy` stream: one dial, then one tunnel. */
export class GrpcFrontend implements Frontend {
  readonly kind = 'grpc';
  readonly client: string;
  readonly #stream: PacketStream;
  readonly #options: GrpcFrontendOptions;
  #state: State;
  /** Also when it has ended: what waits for the client still counts as its own. */
  #tunnel: FrontendTunnel | undefined;
  /** Counts the tail out, once one is being delivered. */
  #delivered: () => void = () => {};

  constructor(stream: PacketStream, options: GrpcFrontendOptions) {
    this.#stream = stream;
    this.#options = options;
    this.client = options.client;
    const timer = setTimeout(() => {
      this.#state = { name: 'ended' };
      stream.end(DEADLINE_EXCEEDED, 'no DIAL_REQ came on this stream');
    }, options.firstPacketTimeoutMs);
    this.#state = { name: 'new', timer };
    stream.attach({
      onPacket: (packet) => this.#onPacket(packet),
      onDrain: () => {
        options.writes.drained();
        this.#tunnel?.frontendDrained();
      },
      onEnd: (end) => this.#onEnd(end),
    });
  }

  get open(): boolean {
    return this.#stream.open;
  }

  get bufferedBytes(): number {
    const held = this.#state.name === 'established' ? this.#state.hold.bytes : 0;
    return held + this.#stream.bufferedBytes;
  }

  dialed(tunnel: FrontendTunnel, response: Packet): void {
    this.#stream.sendFrame(response.frame);
    this.#tunnel = tunnel;
    this.#state = {
      name: 'established',
      tunnel,
      hold: new Hold(this.#options.holdMs, tunnel),
    };
  }

  dialFailed(dialId: bigint, failure: DialFailure): void {
    if (this.#state.name === 'ended') return;
    this.#state = { name: 'ended' };
    this.#stream.send(dialFailure(dialId, failure.text));
    this.#stream.end(OK);
  }

  data(packet: Packet): void {
    if (this.#state.name !== 'established') return;
    const { hold } = this.#state;
    if (hold.holding) hold.add(packet.data.length, () => this.#write(packet.frame));
    else this.#write(packet.frame);
  }

  #write(frame: Buffer): void {
    this.#options.writes.wrote(this.#stream.sendFrame(frame));
  }

  closed(reason: CloseReason, error: string): void {
    if (this.#state.name !== 'established') return;
    const { hold, tunnel } = this.#state;
    const text = error === '' && isAbnormal(reason) ? reason : error;
    this.#delivered = this.#options.tails.begin();
    const finish = (): void => {
      this.#state = { name: 'ended' };
      // kube-apiserver ignores CLOSE_REQ; and it hangs unless the RPC ends behind CLOSE_RSP.
      this.#stream.send(closeResponse(tunnel.connectId, text));
      this.#stream.end(OK);
    };
    // Behind all that waits its end would free nothing.
    if (reason === 'slow-consumer') this.dropTail();
    else if (hold.holding) hold.add(0, finish);
    else finish();
  }

  dropTail(): void {
    const bytes = this.bufferedBytes;
    const tunnel = this.#state.name === 'ended' ? this.#tunnel : undefined;
    if (tunnel !== undefined) this.#options.tails.dropped(this.client, tunnel, bytes, 'budget');
    if (this.#state.name === 'established') this.#state.hold.drop();
    this.#state = { name: 'ended' };
    this.#stream.abort(RESOURCE_EXHAUSTED, 'slow-consumer');
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  #onPacket(packet: Packet): void {
    const state = this.#state;
    switch (state.name) {
      case 'new':
        this.#onFirst(packet, state.timer);
        return;
      case 'dialling':
        if (packet.type === PacketType.DIAL_CLS) this.#giveUp(state.dial);
        else if (packet.type === PacketType.DATA || packet.type === PacketType.DIAL_REQ) {
          this.#protocolError(`packet of type ${packet.type} while the dial is pending`);
        }
        return;
      case 'established':
        this.#onTunnelPacket(packet, state.tunnel, state.hold);
        return;
      case 'ended':
        return;
      default:
        state satisfies never;
    }
  }

  #onFirst(packet: Packet, timer: NodeJS.Timeout): void {
    if (packet.type !== PacketType.DIAL_REQ) {
      this.#protocolError(`the first packet has type ${packet.type}, not DIAL_REQ`);
      return;
    }
    clearTimeout(timer);
    this.#state = { name: 'dialling', dial: undefined };
    const dial = this.#options.dial(this, packet.dialId, packet.address, packet.frame);
    // The dial may have failed at once, or (not with real agents) even be answered.
    if ((this.#state as State).name === 'dialling') this.#state = { name: 'dialling', dial };
  }

  #onTunnelPacket(packet: Packet, tunnel: FrontendTunnel, hold: Hold): void {
    switch (packet.type) {
      case PacketType.DATA:
        if (packet.connectId !== tunnel.connectId) {
          this.#protocolError(`DATA for connectID ${packet.connectId} on the stream of ${tunnel.connectId}`);
          return;
        }
        hold.release();
        if (packet.data.length > 0) tunnel.sendToNode(packet.frame, packet.data.length);
        return;
      case PacketType.CLOSE_REQ:
        if (packet.connectId !== tunnel.connectId) {
          this.#protocolError(
            `CLOSE_REQ for connectID ${packet.connectId} on the stream of ${tunnel.connectId}`,
          );
          return;
        }
        hold.release();
        this.#finishTunnel(tunnel, 'frontend-closed');
        return;
      case PacketType.DIAL_CLS:
        // May cross the DIAL_RSP: the client does not want the tunnel any more.
        this.#finishTunnel(tunnel, 'frontend-closed');
        return;
      case PacketType.DIAL_REQ:
        this.#protocolError('a second DIAL_REQ on one stream');
        return;
      default:
    }
  }

  /** The client closed: the agent is told, the client gets its CLOSE_RSP at once and the end of the RPC. */
  #finishTunnel(tunnel: FrontendTunnel, reason: CloseReason): void {
    if (this.#state.name !== 'established') return;
    this.#state.hold.drop();
    this.#state = { name: 'ended' };
    this.#delivered = this.#options.tails.begin();
    tunnel.frontendEnded(reason);
    this.#stream.send(closeResponse(tunnel.connectId));
    this.#stream.end(OK);
  }

  #giveUp(dial: FrontendDial | undefined): void {
    this.#state = { name: 'ended' };
    dial?.cancel();
    this.#stream.end(OK);
  }

  #protocolError(what: string): void {
    const state = this.#state;
    this.#leave(state, 'protocol-error');
    this.#options.onProtocolError(what);
    this.#stream.end(INVALID_ARGUMENT, `protocol-error: ${what}`);
  }

  #onEnd(end: StreamEnd): void {
    const state = this.#state;
    const reason =
      end.cause === 'malformed'
        ? 'malformed-packet'
        : end.cause === 'half-close'
          ? 'frontend-closed'
          : 'frontend-lost';
    this.#leave(state, reason);
    if (end.cause === 'half-close') this.#stream.end(OK);
    this.#delivered();
    this.#tunnel?.frontendClosed();
    this.#options.onEnd(end);
  }

  /** Lets go of whatever the state holds. */
  #leave(state: State, reason: CloseReason): void {
    this.#state = { name: 'ended' };
    switch (state.name) {
      case 'new':
        clearTimeout(state.timer);
        return;
      case 'dialling':
        state.dial?.cancel();
        return;
      case 'established':
        state.hold.drop();
        state.tunnel.frontendEnded(reason);
        return;
      case 'ended':
        return;
      default:
        state satisfies never;
    }
  }
}
