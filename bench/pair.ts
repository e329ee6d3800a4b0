import { startAgent } from './agent-party.ts';
import type { CleanUp } from './clean-up.ts';
import type { Entry, FrontendKind } from './messages.ts';
import type { PairCommands } from './options.ts';
import type { Party } from './party.ts';
import type { PkiFiles } from './pki.ts';
import { startServer } from './server-party.ts';

/** A server and an agent that is connected to it, as black boxes: command lines, flags, a socket, two processes. */
export class Pair {
  readonly entry: Entry;
  readonly #server: Party;
  readonly #agent: Party;

  private constructor(entry: Entry, server: Party, agent: Party) {
    this.entry = entry;
    this.#server = server;
    this.#agent = agent;
  }

  /**
   * Starts both. They are not ready yet when this resolves.
   * @param name unique within the run, fit for a file name
   * @param link makes the port that the agent connects to, of the one on which the server listens
   */
  static async start(
    name: string,
    commands: PairCommands,
    frontend: FrontendKind,
    pki: PkiFiles,
    cleanUp: CleanUp,
    link: (port: number) => number | Promise<number> = (port) => port,
  ): Promise<Pair> {
    const { party, entry, agentPort } = await startServer(name, commands, frontend, pki, cleanUp);
    const agent = await startAgent(name, commands, await link(agentPort), pki, cleanUp);
    return new Pair(entry, party, agent);
  }

  get serverPid(): number {
    return this.#server.pid;
  }

  get agentPid(): number {
    return this.#agent.pid;
  }

  /** A sentence about a process that ended though nobody asked it to; undefined while both run. */
  get ended(): string | undefined {
    if (this.#server.ended !== undefined) return `the server ended with ${this.#server.ended}`;
    return this.#agent.ended === undefined ? undefined : `the agent ended with ${this.#agent.ended}`;
  }

  /** The end of what both printed. */
  logTail(): string {
    return `${this.#server.logTail()}\n${this.#agent.logTail()}`;
  }

  truncateLog(): void {
    this.#server.truncateLog();
    this.#agent.truncateLog();
  }

  async stop(): Promise<void> {
    await this.#agent.stop();
    await this.#server.stop();
  }
}
