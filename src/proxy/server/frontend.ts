import type { CloseReason } from '../wire/close-reason.ts';
import type { Packet } from '../wire/packet.ts';
import type { DialFailure } from './dial-failure.ts';

/** A client's side of a tunnel, as dials and tunnels see it: a `Proxy` stream or a CONNECT socket. */
export interface Frontend {
  readonly kind: 'grpc' | 'http-connect';
  /** The client, for people. */
  readonly client: string;
  /** False once the client is known to be gone, even before that was acted on. */
  readonly open: boolean;
  /** The dial succeeded; `response` is the agent's DIAL_RSP. */
  dialed(tunnel: FrontendTunnel, response: Packet): void;
  /** The dial ended without a tunnel. Called at most once, and never after dialed(). */
  dialFailed(dialId: bigint, failure: DialFailure): void;
  /** Takes a DATA packet from the node. Never blocks; what waits shows in bufferedBytes. */
  data(packet: Packet): void;
  /** Bytes of payload taken by data() and not yet taken over by the transport. */
  readonly bufferedBytes: number;
  /** The tunnel was ended by the other side or by the server. `error` is the agent's text, if any. */
  closed(reason: CloseReason, error: string): void;
  /** Drops what still waits for a client whose tunnel ended, and the client with it: others need the room. */
  dropTail(): void;
  /** Stops and restarts reading from the client, because the way to the node is full. */
  pause(): void;
  resume(): void;
}

/** What a frontend may do with its tunnel. */
export interface FrontendTunnel {
  readonly connectId: number;
  readonly dialId: bigint;
  readonly address: string;
  /** Bytes from a frontend that speaks no packets (CONNECT). */
  fromFrontend(chunk: Buffer): void;
  /** A DATA frame of this tunnel, as the client sent it, that carries `bytes` of payload. */
  sendToNode(frame: Buffer, bytes: number): void;
  /** The frontend's transport took over what was buffered, also behind the tunnel's end. */
  frontendDrained(): void;
  /** The frontend's transport is closed: nothing is buffered there any more. */
  frontendClosed(): void;
  /** The client ended its side; some of what it sent may still wait for the node. From here on silence ends the tunnel. */
  frontendEnding(): void;
  /** All that the client sent has gone; it may still read. False: the agent knows no half-close, so end the tunnel. */
  frontendHalfClosed(): boolean;
  /** The frontend is gone or done: the agent is told, the frontend is not. */
  frontendEnded(reason: CloseReason): void;
  /** Ends the tunnel and tells both sides. */
  close(reason: CloseReason): void;
}

/** What a frontend may do with its dial. */
export interface FrontendDial {
  /** The client gave up or is gone: the agent is told, nobody is answered. */
  cancel(): void;
}
