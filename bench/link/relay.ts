import { connect, createServer } from 'node:net';
import { freePort } from '../ports.ts';
import { answerCalls } from '../worker.ts';
import { pipeDelayed } from './delayed-pipe.ts';

/** The long link: a process that relays TCP and holds everything back for a while, each way. */

export interface RelayOrder {
  readonly host: string;
  readonly port: number;
  /** One way. */
  readonly delayMs: number;
}

answerCalls({
  /** Listens; each connection is relayed to one of its own. @returns the port */
  open: async ({ host, port, delayMs }: RelayOrder): Promise<number> => {
    const own = await freePort();
    const server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
      const far = connect({ host, port, noDelay: true, allowHalfOpen: true });
      pipeDelayed(near, far, delayMs);
      pipeDelayed(far, near, delayMs);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(own, '127.0.0.1', resolve);
    });
    return own;
  },
});
