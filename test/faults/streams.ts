import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pass } from 'node:timers/promises';
import { dialTunnel } from '../../src/proxy/client/dial-tunnel.ts';
import type { TunnelMode } from '../../src/proxy/client/tunnel-server.ts';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { Pattern } from '../peers/pattern.ts';
import type { TestServer } from '../peers/test-server.ts';
import type { Random } from './random.ts';

export const HEAD_BYTES = 12;
const CHUNK_BYTES = 32 * 1024;
/** Longer than anything may take here: what takes longer hangs. */
const HANGS_MS = 60_000;
/** A server answers a dial sooner, whatever happens. */
const GIVES_UP_MS = 30_000;

/** What a run counts, and what destinations received, by stream number. */
export class StreamBook {
  streams = 0;
  complete = 0;
  cut = 0;
  refused = 0;
  cancelled = 0;
  readonly uploaded = new Map<number, number>();
  /** Streams by their socket at the destination. */
  readonly numbers = new Map<Socket, number>();
  /** Streams that the destination reset: bare sockets, too, take some of these for an orderly end. */
  readonly reset = new Set<number>();
  /** The first thing that is wrong; the run fails with it. */
  failure: unknown;

  fail(error: unknown): void {
    this.failure ??= error;
  }
}

/** What a client does with its stream. */
interface Plan {
  readonly mode: TunnelMode;
  readonly upBytes: number;
  readonly downBytes: number;
  readonly slow: boolean;
  /** Breaks off after that many bytes; never when undefined. */
  readonly leavesAt: number | undefined;
  /** Takes its dial back after so many milliseconds. */
  readonly cancelAfterMs: number | undefined;
}

function makePlan(random: Random): Plan {
  const size = (): number => random.below(random.once(10) ? 4 * 1024 * 1024 : 256 * 1024);
  const downBytes = size() + 1;
  return {
    mode: random.once(2) ? 'grpc' : 'http-connect',
    upBytes: size(),
    downBytes,
    slow: random.once(6),
    leavesAt: random.once(5) ? random.below(downBytes) : undefined,
    cancelAfterMs: random.once(8) ? random.below(8) : undefined,
  };
}

/**
 * Runs one stream to its end. `calm`: the number of the present calm, in which nothing is killed and so nothing may be
 * missing; 0 in a storm.
 */
export async function runStream(
  number: number,
  server: TestServer,
  address: string,
  random: Random,
  book: StreamBook,
  calm: () => number,
): Promise<void> {
  const plan = makePlan(random);
  const calmAtStart = calm();
  const undisturbed = (): boolean => calmAtStart !== 0 && calm() === calmAtStart;
  const hangs = setTimeout(
    () => book.fail(new Error(`stream ${number} hangs: ${JSON.stringify(plan)}`)),
    HANGS_MS,
  );
  book.streams++;
  try {
    const tunnel = await open(plan, server, address, book);
    if (tunnel instanceof Fault) {
      const mayFail = !undisturbed() || plan.cancelAfterMs !== undefined;
      assert.ok(mayFail, `the dial of stream ${number} failed, though nothing was killed: ${tunnel.message}`);
      return;
    }
    const taken = await exchange(number, plan, tunnel);
    const orderly = tunnel.readableEnded && tunnel.errored === null;
    const whole = taken === plan.downBytes && book.uploaded.get(number) === plan.upBytes;
    if (whole) book.complete++;
    else book.cut++;
    // A gRPC tunnel tells every end that is not orderly; a Unix socket cannot.
    const told = plan.mode === 'grpc' && orderly && !book.reset.has(number);
    const must = plan.leavesAt === undefined && (told || undisturbed());
    const got = `${taken} of ${plan.downBytes} down, ${book.uploaded.get(number)} of ${plan.upBytes} up`;
    assert.ok(whole || !must, `stream ${number} by ${plan.mode} is not whole: ${got}`);
    assert.ok(
      whole || !(undisturbed() && plan.leavesAt === undefined),
      `stream ${number} was cut, though nothing was killed: ${got}, ${tunnel.errored?.message}`,
    );
  } catch (error) {
    book.fail(error);
  } finally {
    clearTimeout(hangs);
    book.uploaded.delete(number);
  }
}

async function open(
  plan: Plan,
  server: TestServer,
  address: string,
  book: StreamBook,
): Promise<Duplex | Fault> {
  const cancel = new AbortController();
  const timer =
    plan.cancelAfterMs === undefined ? undefined : setTimeout(() => cancel.abort(), plan.cancelAfterMs);
  const path = plan.mode === 'grpc' ? server.grpcPath : server.connectPath;
  const startedMs = performance.now();
  const steps: string[] = [];
  try {
    return await dialTunnel({
      server: { kind: 'unix', path },
      mode: plan.mode,
      address,
      signal: cancel.signal,
      timeoutMs: GIVES_UP_MS,
      onStep: ({ name }) => steps.push(`${name} after ${Math.round(performance.now() - startedMs)} ms`),
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code === 'dial-timeout' || error.code === 'connection-timeout') {
      throw new Error(`${error.message} (${steps.join(', ')}; the server ${stateOf(server)})`);
    }
    if (error.code === 'cancelled') book.cancelled++;
    else book.refused++;
    return error;
  } finally {
    clearTimeout(timer);
  }
}

function stateOf({ server }: TestServer): string {
  const { pendingDials, establishedTunnels, grpcFrontends, connectFrontends } = server.counters;
  const state = {
    stopping: server.stopping,
    pendingDials,
    establishedTunnels,
    grpcFrontends,
    connectFrontends,
  };
  return JSON.stringify(state);
}

/** Sends and takes, each byte checked. Resolves with the number of bytes taken when the tunnel is closed. */
async function exchange(number: number, plan: Plan, tunnel: Duplex): Promise<number> {
  const down = new Pattern(number, 'down');
  let taken = 0;
  let wrong: unknown;
  const over = new Promise<void>((resolve) => tunnel.once('close', resolve));
  const head = Buffer.alloc(HEAD_BYTES);
  for (const [i, value] of [number, plan.upBytes, plan.downBytes].entries()) head.writeUInt32BE(value, i * 4);
  tunnel.on('data', (chunk: Buffer) => {
    try {
      down.check(taken, chunk);
    } catch (error) {
      wrong ??= error;
      tunnel.destroy();
    }
    taken += chunk.length;
    if (plan.leavesAt !== undefined && taken >= plan.leavesAt) tunnel.destroy();
    else if (plan.slow) {
      tunnel.pause();
      setTimeout(() => tunnel.resume(), 5);
    }
  });
  tunnel.once('end', () => tunnel.destroy());
  tunnel.write(head);
  await writeAll(tunnel, new Pattern(number, 'up'), plan.upBytes);
  await over;
  if (wrong !== undefined) throw wrong;
  return taken;
}

/** Writes as the other side takes it; gives up when the stream is closed. */
export async function writeAll(stream: Duplex, pattern: Pattern, bytes: number): Promise<void> {
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  for (let at = 0; at < bytes && !stream.destroyed; ) {
    const count = Math.min(CHUNK_BYTES, bytes - at);
    const free = stream.write(pattern.bytes(at, count));
    at += count;
    if (!free) await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), closed]);
    else if (at % (1024 * 1024) === 0) await pass(0);
  }
}
