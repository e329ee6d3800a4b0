/** Which agents changed since somebody looked; costs nothing while nobody does. */
export class AgentChanges {
  #touched: Set<string> | undefined;
  /** Set by what concerns more agents than itself: who is ready, and so who could take over. */
  #readiness = false;

  /** From now on changes are kept. */
  start(): void {
    this.#touched ??= new Set();
  }

  stop(): void {
    this.#touched = undefined;
    this.#readiness = false;
  }

  /** Dials, tunnels or words of that agent changed. */
  touch(agentId: string): void {
    this.#touched?.add(agentId);
  }

  /** It came, went, or changed its marks. */
  touchReadiness(agentId: string): void {
    if (this.#touched === undefined) return;
    this.#touched.add(agentId);
    this.#readiness = true;
  }

  /** What changed since the last call. */
  take(): { readonly agentIds: ReadonlySet<string>; readonly readiness: boolean } {
    const taken = { agentIds: this.#touched ?? new Set<string>(), readiness: this.#readiness };
    if (this.#touched !== undefined) this.#touched = new Set();
    this.#readiness = false;
    return taken;
  }
}
