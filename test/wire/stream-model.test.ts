import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { test } from 'node:test';
import { encodeDataFrame, encodeFrame } from '../../src/proxy/wire/encode.ts';
import { ping } from '../../src/proxy/wire/packets.ts';
import { Random } from '../faults/random.ts';
import { type Bed, makeBed, type Side, type Subject, subjects } from './stream-subjects.ts';

/** STREAM_RUNS=10000 STREAM_SEED=1 hunts for longer, or again. */
const RUNS = Number(process.env.STREAM_RUNS ?? 60);
const FIRST_SEED = Number(process.env.STREAM_SEED ?? 1);
const STEPS = 60;
const HANGS_MS = 20_000;
/** Narrow, so that both ends block and go on many times. */
const bounds = { highWaterMarkBytes: 32 * 1024, windowBytes: 65_535 };

/** What a stream may have done so far, in plain lists. */
class Model {
  /** Frames that the stream took to send, and those that its peer sent. */
  readonly sent: Buffer[] = [];
  readonly fromPeer: Buffer[] = [];
  ended = false;
  aborted = false;
  peerFinished = false;
  peerReset = false;
  cut = false;
  /** send() said false, and onDrain was not told since. */
  owed = false;

  /** Nothing may be missing in either direction. */
  get orderly(): boolean {
    return !this.aborted && !this.peerReset && !this.cut;
  }

  get peerMaySend(): boolean {
    return !this.peerFinished && !this.peerReset && !this.cut && !this.aborted;
  }
}

type Step = readonly [weight: number, name: string, take: () => void];

class Run {
  readonly #random: Random;
  readonly #side: Side;
  readonly #bed: Bed;
  readonly #subject: Subject;
  readonly #model = new Model();
  /** Rests of messages that the peer has begun to send. */
  #rest: Buffer = Buffer.alloc(0);
  readonly #steps: Step[];
  readonly trace: string[] = [];

  constructor(seed: number, side: Side, bed: Bed, subject: Subject) {
    this.#random = new Random(seed);
    this.#side = side;
    this.#bed = bed;
    this.#subject = subject;
    const { stream, told, peer } = subject;
    const drain = told.onDrain.bind(told);
    told.onDrain = () => {
      this.#model.owed = false;
      drain();
    };
    peer.read();
    this.#steps = [
      [20, 'send', () => this.#send()],
      [20, 'peer sends', () => this.#peerSends()],
      [8, 'pause', () => stream.pause()],
      [8, 'resume', () => stream.resume()],
      [8, 'peer stops reading', () => peer.stream.pause()],
      [8, 'peer reads', () => peer.stream.resume()],
      [1, 'end', () => this.#end()],
      [1, 'peer ends', () => this.#peerEnds()],
      [seed % 4 === 0 ? 1 : 0, 'abort', () => this.#abort()],
      [seed % 4 === 1 ? 1 : 0, 'peer resets', () => this.#peerResets()],
      [seed % 16 === 2 ? 1 : 0, 'cut', () => this.#cut()],
    ];
  }

  async all(): Promise<void> {
    const total = this.#steps.reduce((sum, [weight]) => sum + weight, 0);
    for (let i = 0; i < STEPS; i++) {
      const step = this.#choose(total);
      this.trace.push(step[1]);
      step[2]();
      for (let turns = this.#random.below(4); turns > 0; turns--) await new Promise((go) => setImmediate(go));
    }
    await this.#settle();
    this.#check();
  }

  #choose(total: number): Step {
    let left = this.#random.below(total);
    for (const step of this.#steps) {
      left -= step[0];
      if (left < 0) return step;
    }
    return assert.fail();
  }

  /** Both ends read all there is, then each ends its side. */
  async #settle(): Promise<void> {
    const { stream, told, peer } = this.#subject;
    const model = this.#model;
    stream.resume();
    peer.stream.resume();
    if (model.peerMaySend) this.#flushRest();
    const over = (): boolean => told.ends.length > 0 && told.ends[0]?.cause !== 'half-close';
    await until(() => over() || peer.closed || stream.bufferedBytes === 0, 'all that was sent is taken');
    if (model.orderly && stream.open) await until(() => !model.owed || !stream.open, 'onDrain');
    if (this.#side === 'client') {
      this.#end();
      if (model.orderly && !model.peerFinished)
        await until(() => peer.inputEnded || over(), 'the half-close');
      this.#peerEnds();
    } else {
      this.#peerEnds();
      this.#end();
    }
    await until(() => told.ends.length > 0, 'the end of the stream');
    // A server waits for the end of its client's side.
    if (!peer.closed) peer.stream.end();
    await until(() => peer.closed, 'the end at the peer');
  }

  #check(): void {
    const { told, peer } = this.#subject;
    const model = this.#model;
    assert.equal(told.ends.length, 1, 'one end');
    assert.equal(told.late, 0, 'nothing behind it');
    const got = told.packets.map(({ frame }) => frame);
    same(got, model.fromPeer.slice(0, got.length), 'what came');
    same(peer.frames, model.sent.slice(0, peer.frames.length), 'what the peer got');
    if (!model.orderly) return;
    // A server that ended wants no more; a client's stream is over with the status of its peer.
    if (this.#side === 'client') assert.equal(got.length, model.fromPeer.length, 'packets that came');
    if (this.#side === 'server') assert.equal(peer.frames.length, model.sent.length, 'packets at the peer');
    const causes = this.#side === 'client' ? ['status'] : ['half-close', 'ended'];
    assert.ok(causes.includes(told.ends[0]?.cause ?? ''), `ended by ${told.ends[0]?.cause}`);
  }

  #send(): void {
    const { stream } = this.#subject;
    const model = this.#model;
    if (!stream.open) return;
    const number = model.sent.length;
    if (this.#random.once(4)) {
      model.sent.push(encodeFrame(ping(number)));
      this.#wrote(stream.send(ping(number)));
      return;
    }
    const payload = Buffer.alloc(this.#size(), number);
    model.sent.push(encodeDataFrame(number, payload));
    this.#wrote(stream.sendData(number, payload));
  }

  #wrote(free: boolean): void {
    if (!free) this.#model.owed = true;
  }

  #peerSends(): void {
    const { peer } = this.#subject;
    const model = this.#model;
    if (!model.peerMaySend || peer.closed) return;
    const number = model.fromPeer.length;
    const frame = encodeDataFrame(number, Buffer.alloc(this.#size(), number));
    model.fromPeer.push(frame);
    const bytes = Buffer.concat([this.#rest, frame]);
    // Where one chunk ends and the next begins has nothing to do with messages; the rest comes with the next one.
    let at = 0;
    const whole = this.#random.once(2);
    while (at < bytes.length && (whole || !this.#random.once(6))) {
      const end = Math.min(bytes.length, at + 1 + this.#random.below(this.#random.once(2) ? 16 : 60_000));
      peer.stream.write(bytes.subarray(at, end));
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }

  #flushRest(): void {
    if (this.#rest.length > 0) this.#subject.peer.stream.write(this.#rest);
    this.#rest = Buffer.alloc(0);
  }

  #end(): void {
    this.#model.ended = true;
    this.#subject.stream.end(0);
  }

  #abort(): void {
    this.#model.aborted = true;
    this.#subject.stream.abort(1, 'aborted');
  }

  #peerEnds(): void {
    if (!this.#model.peerMaySend) return;
    this.#flushRest();
    this.#model.peerFinished = true;
    this.#subject.peer.finish(0);
  }

  #peerResets(): void {
    this.#model.peerReset = true;
    this.#subject.peer.stream.close(constants.NGHTTP2_CANCEL);
  }

  #cut(): void {
    this.#model.cut = true;
    this.#bed.cut();
  }

  #size(): number {
    return this.#random.below([10, 1_000, 40_000, 200_000][this.#random.below(4)] ?? 1);
  }
}

for (const [side, implementation] of subjects) {
  test(`a PacketStream (${side}, ${implementation}) does what a plain model does, whatever both ends do`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
      const bed = await makeBed(side, implementation, bounds);
      const run = new Run(seed, side, bed, await bed.open());
      try {
        await run.all();
      } catch (error) {
        throw new Error(`seed ${seed}: ${error} after ${run.trace.join(', ')}`, { cause: error });
      } finally {
        await bed.close();
      }
    }
  });
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const startedMs = performance.now();
  while (!condition()) {
    assert.ok(performance.now() - startedMs < HANGS_MS, `never came: ${what}`);
    await new Promise((go) => setImmediate(go));
  }
}

function same(got: readonly Buffer[], expected: readonly Buffer[], what: string): void {
  assert.equal(got.length, expected.length, `${what}: more than was sent`);
  for (const [i, frame] of got.entries()) {
    assert.ok(frame.equals(expected[i] as Buffer), `${what}: packet ${i} is another`);
  }
}
