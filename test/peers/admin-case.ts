import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdminClient } from '../../src/proxy/admin/client/admin-client.ts';
import { type AdminClientOptions, openAdminClient } from '../../src/proxy/admin/client/open-admin-client.ts';
import {
  type AdminService,
  type AdminServiceOptions,
  openAdminService,
} from '../../src/proxy/admin/service/open-admin-service.ts';
import { createLog } from '../../src/proxy/ops/log.ts';
import { Inbox } from './inbox.ts';
import { TestServer, type TestServerOptions } from './test-server.ts';

/** A real server with its real admin service on a Unix socket, and clients for it. */
export class AdminCase {
  readonly peers: TestServer;
  readonly service: AdminService;
  /** What the admin service logs. */
  readonly lines: Inbox<string>;
  readonly address: string;
  readonly client: AdminClient;
  readonly #clients: AdminClient[] = [];
  readonly #path: string;

  private constructor(peers: TestServer, service: AdminService, lines: Inbox<string>, path: string) {
    this.peers = peers;
    this.service = service;
    this.lines = lines;
    this.#path = path;
    this.address = `unix://${path}`;
    this.client = this.open(this.address, { actor: 'ann@desk' });
  }

  static async start(
    options: { server?: TestServerOptions; admin?: Partial<AdminServiceOptions> } = {},
  ): Promise<AdminCase> {
    const peers = await TestServer.start(options.server);
    const path = join(tmpdir(), `kts-admin-${randomBytes(6).toString('hex')}.sock`);
    const lines = new Inbox<string>();
    const log = createLog({ verbosity: 1, write: (line) => lines.push(line) });
    try {
      const service = await openAdminService(
        peers.server,
        { socket: { kind: 'path', path }, auditLog: '', keepsOrders: false, sampleMs: 50, ...options.admin },
        log,
      );
      return new AdminCase(peers, service, lines, path);
    } catch (error) {
      await peers.close();
      throw error;
    }
  }

  /** A client of any address; closed with the case. */
  open(address: string, options: AdminClientOptions = {}): AdminClient {
    const client = openAdminClient(address, options);
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.service.close();
    await this.peers.close();
    rmSync(this.#path, { force: true });
  }
}
