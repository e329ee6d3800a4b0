import { encodeFrame } from '../wire/encode.ts';
import type { Feature } from '../wire/extension.ts';
import { blankStatus, type Status } from '../wire/packet.ts';
import { drain, status } from '../wire/packets.ts';

/** What one server was told of the agent's state. */
export class Announcement {
  /** The server was told DRAIN, which cannot be taken back. */
  saidDrain = false;
  readonly #features: ReadonlySet<Feature>;
  readonly #send: (frame: Buffer) => void;
  #last: Buffer | undefined;

  constructor(features: ReadonlySet<Feature>, send: (frame: Buffer) => void) {
    this.#features = features;
    this.#send = send;
  }

  /**
   * Tells the state if it changed: STATUS to a server of ours; DRAIN, once, to one that would not understand it, and
   * before STATUS, so that no server takes a draining agent for ready.
   */
  tell(state: Status): void {
    const ours = this.#features.has('status');
    const takesOrders = this.#features.has('order');
    if ((state.order !== null && !takesOrders) || (state.leaving && !ours)) this.#sayDrain();
    if (!ours) return;
    const said = takesOrders ? state : withoutOrders(state);
    const frame = encodeFrame(status(said));
    // The number tells one order from another; the time that remains of one is no news.
    const compared = said.order === null ? frame : encodeFrame(status({ ...said, order: null }));
    if (this.#last?.equals(compared) === true) return;
    this.#last = compared;
    this.#send(frame);
  }

  #sayDrain(): void {
    if (this.saidDrain) return;
    this.saidDrain = true;
    this.#send(encodeFrame(drain()));
  }
}

/** What a server without `order` is told. */
function withoutOrders({ leaving, tunnels, pendingDials, serverIds, replacements }: Status): Status {
  return { ...blankStatus(), leaving, tunnels, pendingDials, serverIds, replacements };
}
