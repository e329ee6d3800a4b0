import type { AdminClient } from '../../proxy/admin/client/admin-client.ts';
import type { Rates } from '../../proxy/admin/model/agent.ts';
import type { Outcome, TopEvent } from '../state/event.ts';
import type { ServerState, TopState } from '../state/top-state.ts';
import type { Wanted } from '../state/wanted.ts';
import { type Asked, applyDrain, applyUndrain, closeTunnel, previewDrain, previewUndrain } from './act.ts';
import { askDetails, askSelection, askTunnels, followEvents, followRates } from './ask-views.ts';
import { pause } from './pause.ts';
import { reasonText } from './reason-text.ts';

export interface RunnerTimes {
  readonly refreshMs: number;
  /** A scrolled list asks for rates when it stands still for so long. */
  readonly settleMs: number;
  readonly answerTimeoutMs: number;
}

export const defaultRunnerTimes: RunnerTimes = { refreshMs: 1_000, settleMs: 150, answerTimeoutMs: 5_000 };

export interface RunnerOptions {
  readonly clients: readonly AdminClient[];
  readonly dispatch: (event: TopEvent) => void;
  /** The servers as they are now. */
  readonly servers: () => readonly ServerState[];
  readonly times?: RunnerTimes;
}

/** Does what the screen wants: begins what is new, aborts what is gone. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #times: RunnerTimes;
  readonly #running = new Map<string, AbortController>();

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#times = options.times ?? defaultRunnerTimes;
  }

  follow(wanted: readonly Wanted[], scope: TopState['scope']): void {
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, controller] of this.#running) {
      if (keys.has(key)) continue;
      controller.abort();
      this.#running.delete(key);
    }
    for (const one of wanted) {
      if (this.#running.has(one.key)) continue;
      const controller = new AbortController();
      this.#running.set(one.key, controller);
      void this.#run(one, scope, controller.signal);
    }
  }

  close(): void {
    for (const controller of this.#running.values()) controller.abort();
    this.#running.clear();
  }

  async #run(wanted: Wanted, scope: TopState['scope'], signal: AbortSignal): Promise<void> {
    const say = (event: TopEvent): void => {
      if (!signal.aborted) this.#options.dispatch(event);
    };
    switch (wanted.kind) {
      case 'rates':
        return await this.#rates(wanted.ids, scope, signal);
      case 'details': {
        const { id } = wanted;
        return await this.#poll(
          scope,
          signal,
          (clients, s) => askDetails(clients, id, s),
          (outcome) => say({ type: 'details', id, outcome }),
        );
      }
      case 'tunnels': {
        const { agent, sort } = wanted;
        return await this.#poll(
          scope,
          signal,
          (clients, s) => askTunnels(clients, agent, sort, s),
          (outcome) => say({ type: 'tunnels', agent, sort, outcome }),
        );
      }
      case 'selection': {
        const { target } = wanted;
        await pause(this.#times.settleMs, signal);
        return await this.#poll(
          scope,
          signal,
          (clients, s) => askSelection(clients, target, s),
          (outcome) => say({ type: 'selection', target, outcome }),
        );
      }
      case 'events':
        return await this.#events(wanted.agent, scope, signal, say);
      case 'drain-preview': {
        const { request, drain } = wanted;
        const outcome = await this.#once(signal, (s) => previewDrain(this.#asked(scope), drain, s));
        return say({ type: 'drain-preview', request, outcome });
      }
      case 'undrain-preview': {
        const { request, ids } = wanted;
        const outcome = await this.#once(signal, (s) => previewUndrain(this.#asked(scope), ids, s));
        return say({ type: 'undrain-preview', request, outcome });
      }
      case 'drain': {
        const { request, drain } = wanted;
        const outcome = await this.#once(signal, (s) => applyDrain(this.#asked(scope), drain, s));
        return say({ type: 'drained', request, outcome });
      }
      case 'undrain': {
        const { request, ids } = wanted;
        const outcome = await this.#once(signal, (s) => applyUndrain(this.#asked(scope), ids, s));
        return say({ type: 'undrained', request, outcome });
      }
      case 'close': {
        const { request, tunnel, server } = wanted;
        const which = { id: tunnel, server };
        const outcome = await this.#once(signal, (s) => closeTunnel(this.#asked(scope), which, s));
        return say({ type: 'tunnel-closed', request, outcome });
      }
    }
  }

  /** All servers of the scope, also those that do not answer: a change is for all of them or for none. */
  #asked(scope: TopState['scope']): Asked[] {
    return this.#indices(scope).flatMap((i) => {
      const client = this.#options.clients[i];
      const server = this.#options.servers()[i];
      if (client === undefined || server === undefined) return [];
      return [{ id: server.info?.id ?? server.address, client }];
    });
  }

  #clients(scope: TopState['scope']): AdminClient[] {
    return this.#indices(scope).flatMap((i) => this.#options.clients[i] ?? []);
  }

  #indices(scope: TopState['scope']): number[] {
    return scope === 'all' ? [...this.#options.clients.keys()] : [scope];
  }

  async #once<T>(signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<Outcome<T>> {
    try {
      const timeout = AbortSignal.timeout(this.#times.answerTimeoutMs);
      return { ok: true, value: await ask(AbortSignal.any([signal, timeout])) };
    } catch (error) {
      return { ok: false, reason: reasonText(error) };
    }
  }

  async #poll<T>(
    scope: TopState['scope'],
    signal: AbortSignal,
    ask: (clients: readonly AdminClient[], signal: AbortSignal) => Promise<T>,
    say: (outcome: Outcome<T>) => void,
  ): Promise<void> {
    while (!signal.aborted) {
      say(await this.#once(signal, (s) => ask(this.#clients(scope), s)));
      await pause(this.#times.refreshMs, signal);
    }
  }

  async #events(
    agent: string | undefined,
    scope: TopState['scope'],
    signal: AbortSignal,
    say: (event: TopEvent) => void,
  ): Promise<void> {
    const follow = (client: AdminClient): Promise<void> =>
      followEvents(
        client,
        agent,
        (events) => say({ type: 'events', agent, outcome: { ok: true, value: events } }),
        (error) => say({ type: 'events', agent, outcome: { ok: false, reason: reasonText(error) } }),
        signal,
      );
    await Promise.all(this.#clients(scope).map(follow));
  }

  /** Adds up the rates that several servers see, and hands them on once per interval. */
  async #rates(ids: readonly string[], scope: TopState['scope'], signal: AbortSignal): Promise<void> {
    await pause(this.#times.settleMs, signal);
    if (signal.aborted) return;
    const clients = this.#clients(scope);
    const seen = clients.map((): ReadonlyMap<string, Rates> => new Map());
    let fresh = false;
    const emit = (): void => {
      if (fresh) this.#options.dispatch({ type: 'rates', rates: addRates(seen) });
      fresh = false;
    };
    const timer = setInterval(emit, this.#times.refreshMs);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    await Promise.all(
      clients.map((client, i) =>
        followRates(
          client,
          ids,
          this.#times.refreshMs,
          (rates) => {
            const first = seen.every((one) => one.size === 0);
            seen[i] = rates;
            fresh = true;
            if (first) emit();
          },
          signal,
        ),
      ),
    );
  }
}

function addRates(seen: readonly ReadonlyMap<string, Rates>[]): ReadonlyMap<string, Rates> {
  const sum = new Map<string, Rates>();
  for (const [id, rates] of seen.flatMap((one) => [...one])) {
    const before = sum.get(id);
    sum.set(id, {
      dialsPerSecond: rates.dialsPerSecond + (before?.dialsPerSecond ?? 0),
      bytesToNodePerSecond: rates.bytesToNodePerSecond + (before?.bytesToNodePerSecond ?? 0),
      bytesFromNodePerSecond: rates.bytesFromNodePerSecond + (before?.bytesFromNodePerSecond ?? 0),
    });
  }
  return sum;
}
