import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import { oneLine } from '../ops/fault.ts';
import type { Log } from '../ops/log.ts';
import { RepeatedLine } from '../ops/repeated-line.ts';
import type { AgentAuthenticator, AgentVerdict } from './agent-authenticator.ts';

type Call = ServerDuplexStream<Buffer, Buffer>;

/** More agents than this at once are sent away. */
export const MOST_WAITING = 10_000;

/** Lets agents wait for the verdict on them. Nothing that they send is read before it. */
export class Admission {
  readonly #authenticator: AgentAuthenticator;
  readonly #warnings: RepeatedLine;
  readonly #mostWaiting: number;
  #waiting = 0;

  constructor(authenticator: AgentAuthenticator, log: Log, mostWaiting = MOST_WAITING) {
    this.#authenticator = authenticator;
    this.#warnings = new RepeatedLine(log);
    this.#mostWaiting = mostWaiting;
  }

  /** Calls `admit` when the agent is accepted, in the same tick; else ends the call. A call that ends meanwhile is dropped. */
  async check(call: Call, admit: () => void): Promise<void> {
    if (this.#waiting >= this.#mostWaiting) {
      const reason = `the agent cannot be checked now: ${this.#waiting} others wait`;
      this.#refuse(call, status.UNAVAILABLE, 'busy', reason);
      return;
    }
    const gone = new AbortController();
    const onGone = (): void => gone.abort();
    call.once('cancelled', onGone);
    this.#waiting++;
    let verdict: AgentVerdict;
    try {
      verdict = await this.#authenticator.check(call.metadata.get('authorization'), gone.signal);
    } catch (error) {
      // A bug of ours must not let anybody in, nor keep anybody waiting.
      verdict = { kind: 'unknown', reason: 'the agent cannot be checked: internal error' };
      this.#warnings.warn('bug', 'Checking an agent failed', { error: String(error) });
    } finally {
      this.#waiting--;
      call.off('cancelled', onGone);
    }
    if (gone.signal.aborted || call.cancelled) return;
    switch (verdict.kind) {
      case 'accepted':
        admit();
        return;
      case 'refused': {
        const code = verdict.why === 'wrong-account' ? status.PERMISSION_DENIED : status.UNAUTHENTICATED;
        this.#refuse(call, code, verdict.why, verdict.reason);
        return;
      }
      case 'unknown':
        this.#refuse(call, status.UNAVAILABLE, 'unknown', verdict.reason);
        return;
      default:
        verdict satisfies never;
    }
  }

  #refuse(call: Call, code: number, kind: string, reason: string): void {
    const agentID = oneLine(String(call.metadata.get('agentID')[0] ?? ''), 200);
    this.#warnings.warn(kind, 'Refused an agent', { agentID, remote: call.getPeer(), reason });
    call.emit('error', { code, details: reason });
  }
}
