import type { EventLog, ServerEvent } from '../../server/event-log.ts';
import type { AdminEvent, EventsRequest } from '../model/event.ts';

/** Events that are read between two turns of the event loop. */
const EVENTS_PER_TURN = 500;

/** What every event of a server says besides its own. */
export interface EventOrigin {
  readonly serverId: string;
  readonly epoch: string;
}

export function shownEvent({ atUnixMs, ...event }: ServerEvent, origin: EventOrigin, missed = 0): AdminEvent {
  return { ...event, time: new Date(atUnixMs), ...origin, missed };
}

/**
 * Past events from `since` on, then (follow) new ones. A reader keeps nothing but a number: when it falls behind what
 * the log still has, the next event says how many were missed.
 */
export async function* watchEvents(
  log: EventLog,
  request: EventsRequest,
  origin: EventOrigin,
  signal: AbortSignal,
): AsyncGenerator<AdminEvent> {
  const agent = request.agent ?? '';
  let next = request.since === undefined ? log.last + 1 : firstSince(log, request.since.getTime());
  let missed = 0;
  while (!signal.aborted) {
    for (let read = 0; next <= log.last && !signal.aborted; read++) {
      if (next < log.first) {
        missed += log.first - next;
        next = log.first;
      }
      const event = log.at(next) as ServerEvent;
      next++;
      if (agent === '' || event.agent === agent) {
        yield shownEvent(event, origin, missed);
        missed = 0;
      }
      if (read % EVENTS_PER_TURN === EVENTS_PER_TURN - 1)
        await new Promise((resolve) => setImmediate(resolve));
    }
    if (!request.follow || signal.aborted) return;
    await added(log, next, signal);
  }
}

/** By the times that events bear, which may go back: all are looked at, so that none from then on is left out. */
function firstSince(log: EventLog, sinceUnixMs: number): number {
  let from = log.last + 1;
  for (const { atUnixMs, number } of log.newestFirst()) if (atUnixMs >= sinceUnixMs) from = number;
  return from;
}

function added(log: EventLog, next: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      leave();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const leave = log.onAdd(done);
    signal.addEventListener('abort', done);
    if (signal.aborted || next <= log.last) done();
  });
}
