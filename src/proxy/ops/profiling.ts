import { Session } from 'node:inspector/promises';
import { systemClock } from './clock.ts';
import type { HttpAnswer, HttpHandlers, HttpRequest } from './http-endpoints.ts';

const DEFAULT_SECONDS = 30;
const MOST_SECONDS = 300;

/** Profiles of Go's runtime that have no counterpart here. */
const GO_ONLY = ['block', 'cmdline', 'goroutine', 'mutex', 'symbol', 'threadcreate', 'trace'];

const INDEX = `Profiles of this process, in the formats of Chrome's developer tools (not pprof's):

/debug/pprof/profile?seconds=30   CPU (save as .cpuprofile)
/debug/pprof/heap?seconds=30      allocations of that time that are still alive (save as .heapprofile)
/debug/pprof/allocs?seconds=30    all allocations of that time (save as .heapprofile)

Open them in the Performance and Memory panels of Chrome, or in Visual Studio Code. One profile is taken at a time.
`;

/**
 * /debug/pprof/..., as far as Node has it: sampled CPU and heap profiles, which disturb running tunnels little (a heap
 * snapshot would stop them for seconds, so there is none).
 */
export function profilingHandlers(): HttpHandlers {
  let busy = false;
  const taking =
    (take: (session: Session, wait: () => Promise<void>) => Promise<object>, fileName: string) =>
    async (request: HttpRequest): Promise<HttpAnswer> => {
      const seconds = Number(request.query.get('seconds') ?? DEFAULT_SECONDS);
      if (!(seconds > 0 && seconds <= MOST_SECONDS)) {
        return { status: 400, body: `seconds must be a number above 0, at most ${MOST_SECONDS}\n` };
      }
      if (busy) return { status: 409, body: 'another profile is being taken; try again when it is done\n' };
      busy = true;
      const session = new Session();
      session.connect();
      try {
        const profile = await take(session, () => systemClock.wait(seconds * 1000, request.signal));
        return { status: 200, body: JSON.stringify(profile), type: 'application/json', fileName };
      } finally {
        session.disconnect();
        busy = false;
      }
    };
  const handlers: Record<string, HttpHandlers[string]> = {
    '/debug/pprof': ({ search }) => ({ status: 301, body: '', location: `/debug/pprof/${search}` }),
    '/debug/pprof/': () => ({ status: 200, body: INDEX }),
    '/debug/pprof/profile': taking(takeCpuProfile, 'konnectivity-ts.cpuprofile'),
    '/debug/pprof/heap': taking(takeHeapProfile(false), 'konnectivity-ts.heapprofile'),
    '/debug/pprof/allocs': taking(takeHeapProfile(true), 'konnectivity-ts.heapprofile'),
  };
  for (const name of GO_ONLY) {
    handlers[`/debug/pprof/${name}`] = () => ({
      status: 501,
      body: `${name} is a profile of Go's runtime; /debug/pprof/ lists what Node.js has\n`,
    });
  }
  return handlers;
}

async function takeCpuProfile(session: Session, wait: () => Promise<void>): Promise<object> {
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await wait();
  return (await session.post('Profiler.stop')).profile;
}

function takeHeapProfile(collectedToo: boolean) {
  return async (session: Session, wait: () => Promise<void>): Promise<object> => {
    await session.post('HeapProfiler.startSampling', {
      includeObjectsCollectedByMajorGC: collectedToo,
      includeObjectsCollectedByMinorGC: collectedToo,
    });
    await wait();
    return (await session.post('HeapProfiler.stopSampling')).profile;
  };
}
