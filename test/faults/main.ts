import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { setTimeout as pass } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readBanners } from '../peers/banners.ts';
import { raceCancels } from '../peers/cancel-races.ts';
import { Pattern } from '../peers/pattern.ts';
import { dialWithoutAgent } from '../peers/refused-dials.ts';
import { type SlowReading, sendAsGoAgent, takeSlowly } from '../peers/slow-reading.ts';
import { socketDescriptors, until } from '../peers/sockets-left.ts';
import { TestServer } from '../peers/test-server.ts';
import { startDestination, startTunnel } from '../peers/tunnel.ts';
import { Random } from './random.ts';
import { runStream, StreamBook, writeAll } from './streams.ts';
import { World } from './world.ts';

const AT_ONCE = 24;
const STORM_MS = 10_000;
const CALM_MS = 5_000;
const RACES = 10_000;
const slow: SlowReading = { bytes: 20 * 1024 * 1024, chunkBytes: 64 * 1024, everyMs: 1_000 };

const USAGE = `npm run test:faults -- [--seed INTEGER] [--minutes NUMBER] [--public-streams] [--only PART]

Each byte is checked, and at the end nothing may be left. About ten minutes of two cores that do nothing else, or:
  kills         as many minutes as --minutes says (3): agents, servers, links and destinations die at random
  races         1.5 minutes: 10,000 dials taken back around the instant of their answer, in each of three ways
  no-agent      half a minute: twice 10,000 dials by each frontend that no agent can serve, with a flat heap
  banners       20 s: 10,000 destinations that speak first
  slow-readers  5.5 minutes: 20 MiB at 64 KiB/s, by each frontend, from our agent and from one like Go's; to ours
The seed is printed, and repeats the choices of kills. --public-streams takes the other implementation of streams.`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string', default: '3' },
    'public-streams': { type: 'boolean', default: false },
    /** Only the parts of that name: kills, races, no-agent, banners, slow-readers. */
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const minutes = Number(values.minutes);
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
if (!Number.isInteger(seed) || !(minutes > 0)) {
  console.error(USAGE);
  process.exit(2);
}
const publicStreams = values['public-streams'];

const parts: Readonly<Record<string, () => Promise<string>>> = {
  kills,
  races,
  'no-agent': noAgent,
  banners,
  'slow-readers': slowReaders,
};

if (values.only !== undefined && parts[values.only] === undefined) {
  console.error(`there is no part ${JSON.stringify(values.only)}\n\n${USAGE}`);
  process.exit(2);
}
console.log(`faults: seed ${seed}, ${minutes} minutes, ${publicStreams ? 'public' : 'fast'} streams`);
await warmUp();
let failed = false;
for (const [name, run] of Object.entries(parts)) {
  if (values.only !== undefined && values.only !== name) continue;
  const descriptors = openDescriptors();
  try {
    const said = await run();
    const sockets = socketDescriptors();
    await until(() => openDescriptors() <= descriptors, 'no descriptor left', 30_000).catch(() => {
      const [left, all] = [openDescriptors() - descriptors, socketDescriptors()];
      throw new Error(`${left} descriptors left, of ${sockets} sockets at the end ${all}`);
    });
    console.log(`ok      ${name}: ${said}`);
  } catch (error) {
    failed = true;
    console.log(`FAILED  ${name} (seed ${seed}): ${error instanceof Error ? error.stack : error}`);
  }
}
process.exit(failed ? 1 : 0);

/** Streams under random kills: storms, in which only what is said may be believed, and calms, in which all is whole. */
async function kills(): Promise<string> {
  const book = new StreamBook();
  const world = new World(publicStreams, book);
  await world.start();
  let calms = 1;
  let calm = true;
  let stopping = false;
  let last = 0;
  const client = async (): Promise<void> => {
    while (!stopping && book.failure === undefined) {
      const number = ++last;
      const random = new Random(seed + number);
      const server = world.servers[random.below(world.servers.length)] as TestServer;
      await runStream(number, server, world.address, random, book, () => (calm ? calms : 0));
    }
  };
  const clients = Array.from({ length: AT_ONCE }, client);
  const random = new Random(seed);
  const endMs = performance.now() + minutes * 60_000;
  while (performance.now() < endMs && book.failure === undefined) {
    calm = false;
    for (const stormMs = performance.now() + STORM_MS; performance.now() < stormMs; ) {
      await world.fault(random);
      await pass(100 + random.below(1_000));
    }
    await world.recovered();
    calm = true;
    calms++;
    await pass(CALM_MS);
  }
  stopping = true;
  await Promise.race([
    Promise.all(clients),
    until(() => book.failure !== undefined, 'all streams end', 90_000),
  ]);
  if (book.failure !== undefined) throw book.failure;
  await world.allZero();
  await world.close();
  assert.ok(book.complete > 0);
  const { streams, complete, cut, refused, cancelled } = book;
  const megabytes = Math.round(process.memoryUsage().rss / 1e6);
  return `${streams} streams (${complete} whole, ${cut} cut, ${refused} refused, ${cancelled} taken back), ${world.killed.length} faults, ${megabytes} MB`;
}

async function races(): Promise<string> {
  const said: string[] = [];
  for (const cancel of ['hang-up', 'DIAL_CLS', 'reset'] as const) {
    const tunnel = await startTunnel({ server: { publicStreams }, agents: { a: { publicStreams } } });
    const { cancelled, answered } = await raceCancels(tunnel, cancel, RACES);
    await tunnel.close();
    said.push(`${cancel} ${cancelled} cancelled, ${answered} answered`);
  }
  return said.join('; ');
}

async function banners(): Promise<string> {
  const tunnel = await startTunnel({ server: { publicStreams }, agents: { a: { publicStreams } } });
  await readBanners(tunnel, RACES);
  await tunnel.close();
  return `${RACES} destinations that speak first were heard behind the 200`;
}

async function noAgent(): Promise<string> {
  const grown: number[] = [];
  for (const mode of ['http-connect', 'grpc'] as const) {
    const server = await TestServer.start({ publicStreams });
    // The first ones fill what a server remembers of failed dials.
    await dialWithoutAgent(server, mode, RACES);
    const before = liveHeapBytes();
    await dialWithoutAgent(server, mode, RACES);
    const bytes = liveHeapBytes() - before;
    assert.ok(bytes < 100 * RACES, `the heap grew by ${bytes} bytes with ${RACES} refused dials by ${mode}`);
    grown.push(Math.round(bytes / 1024));
    await server.close();
  }
  return `twice ${RACES} dials by each frontend refused; the heap grew by ${grown.join(' and ')} KiB in the second run`;
}

/** What is reachable. */
function liveHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

/** 20 MiB at 64 KiB/s, with the default bounds, by both frontends, from our agent and from one like Go's, and to ours. */
async function slowReaders(): Promise<string> {
  const sent = new Pattern(1, 'down');
  const ours = await startTunnel({ server: { publicStreams }, agents: { a: { publicStreams } } });
  const go = await startTunnel({ server: { publicStreams }, agents: {} });
  const source = await startDestination((socket) => socket.end(sent.bytes(0, slow.bytes)));
  sendAsGoAgent(await go.server.agent('go', { kind: 'go' }), slow.bytes, sent, 'stays');
  const readers = (['http-connect', 'grpc'] as const).flatMap((mode) => [
    ours.dial(mode, source.address).then((tunnel) => takeSlowly(tunnel, slow, sent)),
    go.dial(mode, '10.0.0.1:80').then((tunnel) => takeSlowly(tunnel, slow, sent, 'stays')),
  ]);
  const up = new Pattern(2, 'up');
  const sinks: Promise<void>[] = [];
  const sink = await startDestination((socket) => sinks.push(takeSlowly(socket, slow, up)));
  const writers = (['http-connect', 'grpc'] as const).map(async (mode) => {
    const tunnel = await ours.dial(mode, sink.address);
    // Behind its end the tunnel may be over long before the last byte is taken.
    tunnel.on('error', () => {}).resume();
    await writeAll(tunnel, up, slow.bytes);
    tunnel.end();
  });
  await Promise.all([...readers, ...writers]);
  await Promise.all(sinks);
  for (const one of [source, sink]) one.close();
  for (const tunnels of [ours, go]) await tunnels.close();
  return '4 readers and 2 destinations at 64 KiB/s got 20 MiB each';
}

/** What Node opens once and keeps is no leak. */
async function warmUp(): Promise<void> {
  const world = new World(publicStreams, new StreamBook());
  await world.start();
  await world.close();
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
