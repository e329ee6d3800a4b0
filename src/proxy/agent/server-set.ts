import { Fault } from '../ops/fault.ts';
import type { Log } from '../ops/log.ts';
import type { AgentTimes } from './agent-options.ts';
import { RetryDelay } from './retry-delay.ts';
import { ServerCount, type ServerCountSource } from './server-count.ts';
import type { ServerLink } from './server-link.ts';
import { statusWords } from './server-refusal.ts';

/** What the set needs: a way to reach a server, and whom to tell. */
export interface ServerSetOptions {
  /** Connects once, to whichever server answers at the address. Rejects with a Fault. */
  connect(signal: AbortSignal): Promise<ServerLink>;
  readonly times: AgentTimes;
  /** Keep looking for servers although as many as the server count are held. */
  readonly syncForever: boolean;
  /** How the Leases of servers are counted; undefined: they are not. */
  readonly countLeases?: ServerCountSource | undefined;
  readonly log: Log;
  /** A new server joined the set. */
  onJoin(link: ServerLink): void;
  /** An attempt failed; with the Fault that says why. */
  onFailure(fault: Fault): void;
}

/** That many different reasons in a row are each said at once. */
const MOST_REASONS = 8;

/**
 * Keeps one stream to each server: connects until it holds as many as the servers say there are. Which server answers
 * is up to the address (a balancer, DNS); a stream that reaches a server already held is closed again.
 */
export class ServerSet {
  readonly links = new Map<string, ServerLink>();
  readonly #options: ServerSetOptions;
  readonly #delay: RetryDelay;
  readonly #joinedAtMs = new WeakMap<ServerLink, number>();
  readonly #count: ServerCount;
  /** Why attempts failed since the last one that did not. */
  readonly #saidReasons = new Set<string>();
  /** A stream was lost: the next attempt waits, lest a server that drops every stream at once be asked in a loop. */
  #lost = false;
  /** The loop waits because nothing is missing. */
  #resting = false;
  /** Ends the wait that the loop is in, if it is in one. */
  #wake: () => void = () => {};

  constructor(options: ServerSetOptions) {
    this.#options = options;
    this.#count = new ServerCount(options.countLeases);
    this.#delay = new RetryDelay(options.times);
  }

  get serverCount(): number {
    return this.#count.value;
  }

  /** So many Leases of servers are valid. */
  countedLeases(count: number): void {
    this.#count.counted(count);
    if (this.#resting && !this.#complete()) this.#wake();
  }

  /** The link ended: the set forgets it and looks for a server again, soon. */
  lost(link: ServerLink): void {
    if (!this.#forget(link)) return;
    this.#lost = true;
    this.#wake();
  }

  /** The link was closed from here so that it is made anew: the set looks for its server at once. */
  remake(link: ServerLink): void {
    if (this.#forget(link)) this.#wake();
  }

  /** Connects and reconnects until the signal; a connection that is being made then is given up. */
  async run(signal: AbortSignal): Promise<void> {
    const { syncForever, times } = this.#options;
    let failures = 0;
    this.#saidReasons.clear();
    while (!signal.aborted) {
      if (this.#lost) {
        this.#lost = false;
        await this.#sleep(this.#delay.next(), signal);
        continue;
      }
      if (this.#complete()) {
        this.#resting = true;
        await this.#sleep(syncForever ? times.syncIntervalCapMs : undefined, signal);
        this.#resting = false;
        if (!syncForever || signal.aborted || this.#lost) continue;
      }
      const outcome = await this.#attempt(signal, failures);
      failures = outcome === 'failed' ? failures + 1 : 0;
      if (outcome !== 'joined' && !this.#lost) await this.#sleep(this.#delay.next(), signal);
    }
  }

  #forget(link: ServerLink): boolean {
    if (this.links.get(link.server.serverId) !== link) return false;
    this.links.delete(link.server.serverId);
    this.#delay.lost(performance.now() - (this.#joinedAtMs.get(link) ?? 0));
    return true;
  }

  /** Of many reasons, which change with every attempt, not each is news. */
  #isNewReason(reason: string): boolean {
    return !this.#saidReasons.has(reason) && this.#saidReasons.size < MOST_REASONS;
  }

  #complete(): boolean {
    return this.links.size > 0 && this.links.size >= this.serverCount;
  }

  async #attempt(signal: AbortSignal, failures: number): Promise<'joined' | 'known' | 'failed'> {
    const { log, times, onJoin, onFailure } = this.#options;
    let link: ServerLink;
    try {
      link = await this.#options.connect(signal);
      if (link.streamEnd !== undefined && !signal.aborted) {
        const { code, details } = link.streamEnd;
        const words = statusWords(code, details);
        throw new Fault('server-lost', `server ${link.server.serverId} ended the stream at once: ${words}`);
      }
    } catch (error) {
      if (signal.aborted) return 'failed';
      const fault = error instanceof Fault ? error : new Fault('failed', String(error), '', error);
      onFailure(fault);
      // Said at the first failure, when there is a new reason, and then ever more rarely.
      if ((failures & (failures + 1)) === 0 || this.#isNewReason(fault.line)) {
        this.#saidReasons.add(fault.line);
        log.warning('Cannot connect to a server', { reason: fault.line, failures: failures + 1 });
      }
      return 'failed';
    }
    if (signal.aborted) {
      link.abort('the agent is leaving');
      return 'failed';
    }
    this.#count.said(link.server.serverCount);
    if (this.links.has(link.server.serverId)) {
      log.info(4, 'Reached a server that is known already', { serverID: link.server.serverId });
      void link.close(times.closeMs);
      return 'known';
    }
    this.links.set(link.server.serverId, link);
    this.#joinedAtMs.set(link, performance.now());
    this.#delay.reached();
    this.#saidReasons.clear();
    onJoin(link);
    return 'joined';
  }

  /** Waits for `ms` (undefined: without end), the signal, or a lost link. */
  #sleep(ms: number | undefined, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake = () => {};
        resolve();
      };
      const timer = ms === undefined ? undefined : setTimeout(done, ms);
      signal.addEventListener('abort', done);
      this.#wake = done;
    });
  }
}
