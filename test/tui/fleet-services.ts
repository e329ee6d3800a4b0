import type { AdminHandlers } from '../../src/proxy/admin/service/admin-handlers.ts';
import { AdminServer } from '../peers/admin-server.ts';
import type { FakeFleet, FakeServer } from '../peers/fake-fleet.ts';

/** Admin services on Unix sockets for every server of a fleet in memory: the program connects to them for real. */
export class FleetServices {
  readonly fleet: FakeFleet;
  readonly #services = new Map<string, AdminServer>();
  readonly #paths = new Map<string, string>();

  private constructor(fleet: FakeFleet) {
    this.fleet = fleet;
  }

  static async start(fleet: FakeFleet): Promise<FleetServices> {
    const services = new FleetServices(fleet);
    for (const server of fleet.servers) await services.open(server.id);
    return services;
  }

  /** For --admin. */
  get addresses(): string {
    return [...this.#paths.values()].map((path) => `unix://${path}`).join(',');
  }

  /** Starts the service of a server, again at its path. */
  async open(id: string): Promise<void> {
    const server = this.fleet.servers.find((one) => one.id === id) as FakeServer;
    const service = await AdminServer.start(handlersOf(server), this.#paths.get(id));
    this.#services.set(id, service);
    this.#paths.set(id, service.path);
  }

  /** As a server that is killed. */
  kill(id: string): void {
    this.#services.get(id)?.close();
    this.#services.delete(id);
  }

  close(): void {
    for (const service of this.#services.values()) service.close();
  }
}

function handlersOf(server: FakeServer): Partial<AdminHandlers> {
  return {
    GetServer: (_, { signal }) => server.server(signal),
    ListAgents: async (request, { signal }) => ({
      agents: await server.agents(request, signal),
      nextPageToken: '',
      revision: 1,
      epoch: server.epoch,
    }),
    WatchAgents: (request, { signal }) => server.watchAgents(request, signal),
    GetAgent: ({ id }, { signal }) => server.agent(id, signal),
    Drain: async (request, { signal }) => ({ results: await server.drain(request, signal) }),
    Undrain: async (request, { signal }) => ({ results: await server.undrain(request, signal) }),
    Select: (request, { signal }) => server.select(request, signal),
    ListTunnels: (request, { signal }) => server.tunnels(request, signal),
    CloseTunnel: async (request, { signal }) => ({ tunnel: await server.closeTunnel(request, signal) }),
    WatchEvents: (request, { signal }) => server.events(request, signal),
  };
}
