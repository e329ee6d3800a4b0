import { decide, noOrder, onTheWire, type StandingOrder } from '../../src/proxy/agent/standing-order.ts';
import type { EndedId } from '../../src/proxy/server/drain/ended-ids.ts';
import { EndedOrders } from '../../src/proxy/server/drain/ended-orders.ts';
import type { Order } from '../../src/proxy/server/drain/order.ts';
import { OrderLedger, type OrderStream, type OrderWord } from '../../src/proxy/server/drain/order-ledger.ts';
import { inForce, placedHere } from '../../src/proxy/server/drain/order-state.ts';
import { planOrder } from '../../src/proxy/server/drain/plan-order.ts';
import type { OrderChange } from '../../src/proxy/wire/order.ts';

const actor = { name: 'alice', claimed: false };

/** One process of an agent with the arbiter that the product has. */
class Process {
  standing: StandingOrder = noOrder;
  readonly instance: string;
  constructor(instance: string) {
    this.instance = instance;
  }
}

/** A stream with what is under way on it. Either end may be gone while the other does not know yet. */
class Line implements OrderStream {
  readonly takesOrders = true;
  readonly agentId: string;
  readonly instance: string;
  readonly process: Process;
  readonly server: Server;
  toAgent: OrderChange[] = [];
  toServer: (OrderWord | 'end')[] = [];
  agentOpen = true;
  serverOpen = true;

  constructor(agentId: string, process: Process, server: Server) {
    this.agentId = agentId;
    this.process = process;
    this.instance = process.instance;
    this.server = server;
  }

  sendOrder(order: Order): void {
    const { id, version, reason, until, sinceUnixMs } = order;
    const wire = { id, version, reason, sinceUnixMs, actor: order.actor, actorClaimed: false };
    this.toAgent.push({
      order: { ...wire, deadlineInMs: -1, close: false, untilRestart: until === 'restart' },
      ended: [],
      endedBy: '',
      endedByClaimed: false,
    });
  }

  sendEnds(ids: readonly string[]): void {
    this.toAgent.push({ order: null, ended: [...ids], endedBy: 'alice', endedByClaimed: false });
  }

  /** The agent says where it stands; what was said and did not leave yet is replaced, as on a busy link. */
  say(): void {
    const { number, order, ended } = this.process.standing;
    const wire = order === undefined ? undefined : onTheWire(order, 0);
    const word: OrderWord = {
      number,
      ended,
      order:
        wire === undefined
          ? undefined
          : {
              id: wire.id,
              agentId: this.agentId,
              version: wire.version,
              actor: wire.actor,
              actorClaimed: false,
              reason: wire.reason,
              sinceUnixMs: wire.sinceUnixMs,
              deadline: undefined,
              atDeadline: 'keep',
              until: wire.untilRestart ? 'restart' : 'undrain',
              instance: wire.untilRestart ? this.instance : undefined,
              overdue: false,
            },
    };
    if (this.toServer.length > 1 && this.toServer.at(-1) !== 'end') this.toServer.pop();
    this.toServer.push(word);
  }
}

/** One server: the ledger that the product has. */
export class Server {
  ledger!: OrderLedger;
  lines: Line[] = [];
  readonly undrained: (agentId: string, id: string) => void;

  constructor(undrained: (agentId: string, id: string) => void) {
    this.undrained = undrained;
    this.#begin([], []);
  }

  #begin(stored: Order[], ended: EndedId[]): void {
    const remembered = new EndedOrders({ most: 1000, keepMs: 1e9 });
    for (const one of ended) remembered.add(one, 0);
    this.ledger = new OrderLedger(
      remembered,
      {
        onChange: () => {},
        onEnded: ({ order, cause }) => {
          if (cause === 'undrain') this.undrained(order.agentId, order.id);
        },
      },
      () => ({ monoMs: 0, unixMs: 0 }),
    );
    for (const order of stored) this.ledger.restore(order);
  }

  /** The process ends and another begins, with what the state directory holds, or without any. */
  restart(forgets = false): void {
    for (const line of this.lines) {
      line.serverOpen = false;
      line.agentOpen = false;
    }
    this.lines = [];
    if (forgets) {
      this.#begin([], []);
      return;
    }
    const stored = [...this.ledger.states()].map(([, state]) => placedHere(state));
    this.#begin(
      stored.filter((order) => order !== undefined),
      this.ledger.ended.kept(),
    );
  }
}

/** Two servers, three agents, and everything that is under way between them. */
export class World {
  readonly servers: Server[];
  readonly agents = new Map<string, Process>();
  lines: Line[] = [];
  /** By agent: IDs that an operator ended at a server that knew of them. */
  readonly ended = new Map<string, Set<string>>();
  #instances = 0;
  #orders = 0;

  constructor(agentIds: readonly string[]) {
    const undrained = (agentId: string, id: string) => this.ended.get(agentId)?.add(id);
    this.servers = [new Server(undrained), new Server(undrained)];
    for (const agentId of agentIds) {
      this.ended.set(agentId, new Set());
      this.agents.set(agentId, new Process(`i${++this.#instances}`));
    }
  }

  /** Ends that nobody remembers any more do not hold. */
  forgetEnds(): void {
    for (const [agentId, ids] of this.ended) {
      const process = this.agents.get(agentId);
      for (const id of ids) {
        const known =
          process?.standing.ended.includes(id) ||
          this.servers.some(({ ledger }) => ledger.ended.endedForAll(agentId, id));
        if (!known) ids.delete(id);
      }
    }
  }

  newOrderId(): string {
    return `o${++this.#orders}`;
  }

  connect(agentId: string, server: Server): void {
    const line = new Line(agentId, this.agents.get(agentId) as Process, server);
    this.lines.push(line);
    server.lines.push(line);
    server.ledger.connected(line);
    line.say();
  }

  /** The agent's end is gone; the server's hears of it behind what is still under way, which may be lost. */
  hangUp(line: Line, lost: boolean): void {
    line.agentOpen = false;
    line.toAgent = [];
    if (lost) line.toServer = [];
    line.toServer.push('end');
  }

  restartAgent(agentId: string, lost: boolean): void {
    for (const line of this.lines.filter((one) => one.agentId === agentId && one.agentOpen)) {
      this.hangUp(line, lost);
    }
    this.agents.set(agentId, new Process(`i${++this.#instances}`));
  }

  /** @returns the ID of the order when a new one was placed */
  drain(
    server: Server,
    agentId: string,
    id: string,
    reason: string | undefined,
    until?: 'restart',
  ): string | undefined {
    const { ledger } = server;
    const existing = inForce(ledger.stateOf(agentId));
    // As the control does: an ID that ended is refused.
    if (existing === undefined && ledger.ended.has(agentId, id)) return undefined;
    const instance = server.lines.findLast((line) => line.agentId === agentId)?.instance;
    const planned = planOrder(
      {
        agentIds: [agentId],
        actor: actor.name,
        actorClaimed: false,
        reason,
        until: instance === undefined ? undefined : until,
        orderIds: new Map([[agentId, id]]),
      },
      { agentId, existing, instance, now: { monoMs: 0, unixMs: 0 } },
    );
    if (placedHere(ledger.stateOf(agentId)) !== planned.order) ledger.place(planned.order, actor);
    return planned.change === 'placed' ? id : undefined;
  }

  undrain(server: Server, agentId: string): void {
    server.ledger.undrain(agentId, actor);
  }

  /** Lets one packet arrive. @returns false when nothing is under way on that line */
  deliver(line: Line, towardsAgent: boolean): boolean {
    if (towardsAgent) {
      const change = line.toAgent.shift();
      if (change === undefined || !line.agentOpen) return false;
      const { process } = line;
      const { standing } = decide(process.standing, change, 0);
      const changed = standing !== process.standing;
      process.standing = standing;
      if (changed)
        for (const other of this.lines) if (other.process === process && other.agentOpen) other.say();
      return true;
    }
    const word = line.toServer.shift();
    if (word === undefined) return false;
    if (!line.serverOpen) return true;
    if (word === 'end') {
      line.serverOpen = false;
      line.server.lines = line.server.lines.filter((other) => other !== line);
      this.lines = this.lines.filter((other) => other !== line);
      line.server.ledger.disconnected(line);
    } else line.server.ledger.announced(line, word);
    return true;
  }

  /** Every agent connects to every server, and everything arrives. @returns false when it never becomes quiet */
  quiet(): boolean {
    this.lines = this.lines.filter((line) => line.serverOpen);
    for (const agentId of this.agents.keys()) {
      for (const server of this.servers) {
        const live = this.lines.some(
          (line) => line.server === server && line.agentId === agentId && line.agentOpen,
        );
        if (!live) this.connect(agentId, server);
      }
    }
    for (let step = 0; step < 10_000; step++) {
      const busy = this.lines.find((line) => line.toAgent.length > 0 || line.toServer.length > 0);
      if (busy === undefined) return true;
      this.deliver(busy, busy.toAgent.length > 0);
    }
    return false;
  }
}
