import { randomFillSync } from 'node:crypto';
import type { Descriptors } from '../ops/descriptors.ts';
import type { Log } from '../ops/log.ts';
import { RepeatedLine } from '../ops/repeated-line.ts';
import type { Buffers } from '../wire/buffers.ts';
import type { CloseReason } from '../wire/close-reason.ts';
import type { AgentChanges } from './agent-changes.ts';
import type { Backend } from './backend.ts';
import type { Backends } from './backends.ts';
import { Dial, type DialContext } from './dial.ts';
import type { EndedTunnel } from './ended-tunnel.ts';
import type { Frontend, FrontendDial } from './frontend.ts';
import type { RecentRing } from './recent-ring.ts';
import type { Chosen } from './selection/selection.ts';
import type { ServerCounters } from './server-counters.ts';
import type { Tunnel } from './tunnel.ts';

/** Failed dials of one agent and reason that are printed within a minute; from verbosity 4 on all are. */
const FAILED_DIALS_PRINTED = 10;

/** What the desk is made of. */
export interface DialDeskOptions {
  readonly backends: Backends;
  readonly counters: ServerCounters;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly buffers: Buffers;
  readonly halfCloseTimeoutMs: number;
  readonly descriptors: Descriptors;
  /** Remembers tunnels that ended and dials that failed. */
  readonly ended: RecentRing<EndedTunnel>;
  readonly changes: AgentChanges;
  accepting(): boolean;
  /** A tunnel or a dial ended: a server that waits for its last one looks again. */
  onQuiet(): void;
}

/** Makes dials, and gives them what they share: selection, counters, log. */
export class DialDesk {
  readonly #options: DialDeskOptions;
  readonly #context: DialContext;

  constructor(options: DialDeskOptions) {
    this.#options = options;
    this.#context = this.#makeContext();
  }

  /** Makes a dial and starts it. The frontend is called back, perhaps before this returns. */
  dial(frontend: Frontend, id: bigint, address: string, request: Buffer): FrontendDial {
    const dial = new Dial(this.#context, frontend, id, address, request);
    dial.start();
    return dial;
  }

  #makeContext(): DialContext {
    const { backends, counters, log, timeoutMs, buffers, halfCloseTimeoutMs, descriptors, ended, changes } =
      this.#options;
    const { selector } = backends;
    let dials = 0;
    const failures = new RepeatedLine(log, { burst: FAILED_DIALS_PRINTED });
    return {
      timeoutMs,
      buffers,
      halfCloseTimeoutMs,
      descriptors,
      choose: (address, exclude) => found(selector.select(address, exclude)),
      chooseAfterSubstitute: (address, failed) => found(selector.selectAfterError(address, failed)),
      accepting: () => this.#options.accepting(),
      now: () => performance.now(),
      nextNumber: () => ++dials,
      onStart: () => {
        counters.dialsStarted++;
        counters.pendingDials++;
      },
      onChosen: (dial, choice) => {
        const { stream } = choice;
        stream.dialsGiven++;
        stream.lastChosenMs = dial.startedAtMs;
        backends.dialGiven(stream);
        changes.touch(stream.agentId);
        if (!choice.fallback) return;
        counters.fallback(choice.strategy);
        log.info(3, 'Dial goes to an agent that is not ready: no other can serve it', {
          dialID: dial.id,
          address: dial.address,
          agentID: choice.agentId,
          strategy: choice.strategy,
          state: choice.pass,
        });
      },
      onAnswer: (backend, answered) => backends.dialAnswered(backend, answered),
      onEstablished: (dial, tunnel) => {
        counters.pendingDials--;
        counters.dialsSucceeded++;
        counters.establishedTunnels++;
        const seconds = (performance.now() - dial.startedAtMs) / 1000;
        counters.dialSeconds.observe(seconds);
        counters.recentDials.add(seconds);
        if (log.enabled(4)) {
          log.info(4, 'Tunnel established', {
            dialID: dial.id,
            connectID: tunnel.connectId,
            address: dial.address,
            agentID: dial.backend?.agentId,
            client: dial.frontend.client,
          });
        }
      },
      onFailed: (dial, failure) => {
        counters.pendingDials--;
        counters.dialFailed(failure.reason);
        ended.add(failedDial(dial, failure.text));
        if (dial.backend !== undefined) changes.touch(dial.backend.agentId);
        const fields = {
          dialID: dial.id,
          address: dial.address,
          agentID: dial.backend?.agentId,
          client: dial.frontend.client,
          reason: failure.text,
        };
        if (log.enabled(4)) log.info(4, 'Dial failed', fields);
        else failures.info(`${failure.reason} ${fields.agentID}`, 2, 'Dial failed', fields);
        this.#options.onQuiet();
      },
      onCancelled: (dial) => {
        counters.pendingDials--;
        counters.dialFailed('frontend_close');
        ended.add(failedDial(dial, 'the client gave the dial up'));
        if (dial.backend !== undefined) changes.touch(dial.backend.agentId);
        log.info(3, 'Dial cancelled by its client', { dialID: dial.id, address: dial.address });
        this.#options.onQuiet();
      },
      onTunnelEnd: (backend, tunnel, reason) => {
        counters.establishedTunnels--;
        counters.tunnelClosed(reason);
        ended.add(endedTunnel(backend, tunnel, reason));
        backend.endedBytesToNode += tunnel.bytesToNode;
        backend.endedBytesFromNode += tunnel.bytesFromNode;
        changes.touch(backend.agentId);
        counters.tunnelSeconds.observe((performance.now() - tunnel.startedAtMs) / 1000);
        if (log.enabled(4)) {
          log.info(4, 'Tunnel closed', {
            dialID: tunnel.dialId,
            connectID: tunnel.connectId,
            address: tunnel.address,
            agentID: backend.agentId,
            reason,
            bytesToNode: tunnel.bytesToNode,
            bytesFromNode: tunnel.bytesFromNode,
          });
        }
        this.#options.onQuiet();
      },
    };
  }
}

// Drawn in advance: a call into the system's generator costs as much as a write.
const random = new BigUint64Array(512);
let drawn = random.length;

/** A random positive int64. */
export function newDialId(): bigint {
  if (drawn === random.length) {
    randomFillSync(random);
    drawn = 0;
  }
  return (random[drawn++] as bigint) >> 1n || 1n;
}

function failedDial(dial: Dial, error: string): EndedTunnel {
  return {
    number: dial.number,
    dialId: dial.id,
    agentId: dial.backend?.agentId ?? '',
    address: dial.address,
    client: dial.frontend.client,
    mode: dial.frontend.kind,
    strategy: dial.strategy ?? '',
    connectId: 0,
    startedAtMs: dial.startedAtMs,
    endedAtMs: performance.now(),
    bytesToNode: 0,
    bytesFromNode: 0,
    reason: 'dial-failed',
    error,
  };
}

function endedTunnel(backend: Backend, tunnel: Tunnel, reason: CloseReason): EndedTunnel {
  return {
    number: tunnel.number,
    dialId: tunnel.dialId,
    agentId: backend.agentId,
    address: tunnel.address,
    client: tunnel.frontend.client,
    mode: tunnel.frontend.kind,
    strategy: tunnel.strategy,
    connectId: tunnel.connectId,
    startedAtMs: tunnel.startedAtMs,
    endedAtMs: performance.now(),
    bytesToNode: tunnel.bytesToNode,
    bytesFromNode: tunnel.bytesFromNode,
    reason,
    error: '',
  };
}

function found(selection: Chosen<Backend> | { readonly stream: undefined }): Chosen<Backend> | undefined {
  return selection.stream === undefined ? undefined : (selection as Chosen<Backend>);
}
