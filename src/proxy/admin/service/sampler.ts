import type { ProxyServer } from '../../server/proxy-server.ts';
import type { Rates } from '../model/agent.ts';
import { PAUSED_MS } from './agent-view.ts';

interface Counted {
  dials: number;
  toNode: number;
  fromNode: number;
}

const SAMPLE_MS = 1_000;
/** So many times slower while nobody watches or asks: how long a tunnel is idle has to be known even then. */
const QUIET_FACTOR = 10;
const NO_RATES: Rates = { dialsPerSecond: 0, bytesToNodePerSecond: 0, bytesFromNodePerSecond: 0 };

/**
 * Looks at what tunnels have counted: rates, and when their last byte came, without a clock read for each packet. Once
 * a second while somebody watches, or asked a moment ago; else every ten seconds. Who asks then is told at once, of what
 * went on since the last look.
 */
export class Sampler {
  readonly #server: ProxyServer;
  #counts = new Map<string, Counted>();
  #rates = new Map<string, Rates>();
  #total: Rates = NO_RATES;
  #samples = 0;
  #dials = 0;
  /** Agents with a tunnel that is paused for long. */
  #slow = new Set<string>();
  readonly #sampleMs: number;
  #lastMs: number;
  #askedMs = Number.NEGATIVE_INFINITY;
  #watches = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(server: ProxyServer, sampleMs = SAMPLE_MS) {
    this.#server = server;
    this.#sampleMs = sampleMs;
    this.#lastMs = performance.now();
    this.#dials = server.counters.dialsStarted;
    this.#arm();
  }

  /** Somebody is about to read rates or idle times once: what they read is no older than a second. */
  ask(): void {
    this.#askedMs = performance.now();
    this.#wake();
  }

  /** Somebody watches until the function that this returns is called. */
  watch(): () => void {
    this.#watches++;
    this.#wake();
    let left = false;
    return () => {
      if (!left) this.#watches--;
      left = true;
    };
  }

  /** Since the look before the last. */
  rates(agentId: string): Rates {
    return this.#rates.get(agentId) ?? NO_RATES;
  }

  /** How many there were so far: rates change with it alone. */
  get samples(): number {
    return this.#samples;
  }

  get total(): Rates {
    return this.#total;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #wake(): void {
    if (performance.now() - this.#lastMs >= this.#sampleMs) this.sample();
    this.#arm();
  }

  /** The next look, counted from the last one. */
  #arm(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    const quietMs = this.#sampleMs * QUIET_FACTOR;
    const everyMs = this.#watches > 0 || nowMs - this.#askedMs < quietMs ? this.#sampleMs : quietMs;
    const look = (): void => {
      this.sample();
      this.#arm();
    };
    this.#timer = setTimeout(look, Math.max(1, this.#lastMs + everyMs - nowMs)).unref();
  }

  sample(): void {
    const nowMs = performance.now();
    const seconds = Math.max(0.001, (nowMs - this.#lastMs) / 1000);
    this.#lastMs = nowMs;
    this.#samples++;
    const counts = new Map<string, Counted>();
    const slow = new Set<string>();
    for (const backend of this.#server.backends.all()) {
      const counted = counts.get(backend.agentId) ?? { dials: 0, toNode: 0, fromNode: 0 };
      counts.set(backend.agentId, counted);
      counted.dials += backend.dialsGiven;
      counted.toNode += backend.endedBytesToNode;
      counted.fromNode += backend.endedBytesFromNode;
      for (const tunnel of backend.tunnels.values()) {
        counted.toNode += tunnel.bytesToNode;
        counted.fromNode += tunnel.bytesFromNode;
        const { sample } = tunnel;
        const bytes = tunnel.bytesToNode + tunnel.bytesFromNode;
        const aliveSeconds = Math.max(0.001, (nowMs - tunnel.startedAtMs) / 1000);
        sample.bytesPerSecond = (bytes - sample.bytes) / Math.min(seconds, aliveSeconds);
        if (bytes !== sample.bytes) {
          sample.bytes = bytes;
          sample.lastByteMs = nowMs;
        }
        if (tunnel.pausedSinceMs !== undefined && tunnel.pausedSinceMs <= nowMs - PAUSED_MS) {
          slow.add(backend.agentId);
        }
      }
    }
    this.#rate(counts, seconds);
    for (const agentId of [...slow, ...this.#slow]) this.#server.changes.touch(agentId);
    this.#slow = slow;
  }

  #rate(counts: Map<string, Counted>, seconds: number): void {
    const rates = new Map<string, Rates>();
    let toNode = 0;
    let fromNode = 0;
    for (const [agentId, now] of counts) {
      const before = this.#counts.get(agentId);
      // A stream that ended took its counts with it.
      const grown = (key: keyof Counted): number =>
        Math.max(0, now[key] - (before?.[key] ?? now[key])) / seconds;
      const rate = {
        dialsPerSecond: grown('dials'),
        bytesToNodePerSecond: grown('toNode'),
        bytesFromNodePerSecond: grown('fromNode'),
      };
      toNode += rate.bytesToNodePerSecond;
      fromNode += rate.bytesFromNodePerSecond;
      rates.set(agentId, rate);
    }
    const { dialsStarted } = this.#server.counters;
    this.#total = {
      dialsPerSecond: (dialsStarted - this.#dials) / seconds,
      bytesToNodePerSecond: toNode,
      bytesFromNodePerSecond: fromNode,
    };
    this.#dials = dialsStarted;
    this.#counts = counts;
    this.#rates = rates;
  }
}
