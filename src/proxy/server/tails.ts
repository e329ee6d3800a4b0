import type { Log } from '../ops/log.ts';
import { RepeatedLine } from '../ops/repeated-line.ts';
import type { FrontendTunnel } from './frontend.ts';

/** Lines of one reason within a minute. */
const DROPPED_PRINTED = 10;

type Ended = Pick<FrontendTunnel, 'dialId' | 'connectId' | 'address'>;

/** Why the rest was dropped: the client took nothing of it for long, or others needed the room. */
export type TailDrop = 'taken-nothing' | 'budget';

/**
 * Ended tunnels whose last bytes are still on their way to the client: a server that stops waits for them, within its
 * grace period.
 */
export class Tails {
  readonly #onQuiet: () => void;
  readonly #dropped: RepeatedLine;
  #left = 0;

  /** @param onQuiet told when the last one is through */
  constructor(onQuiet: () => void, log: Log) {
    this.#onQuiet = onQuiet;
    this.#dropped = new RepeatedLine(log, { burst: DROPPED_PRINTED });
  }

  get left(): number {
    return this.#left;
  }

  /** So many bytes never reached the client. */
  dropped(client: string, { dialId, connectId, address }: Ended, bytes: number, why: TailDrop): void {
    const fields = { dialID: dialId, connectID: connectId, address, client, bytes, why };
    this.#dropped.info(why, 1, 'Dropped what a client did not take', fields);
  }

  /** Counts one in; the function that is returned counts it out, once. */
  begin(): () => void {
    this.#left++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#left--;
      if (this.#left === 0) this.#onQuiet();
    };
  }
}
