import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdminHandlers } from '../../src/proxy/admin/service/admin-handlers.ts';
import { GrpcHost } from '../../src/proxy/admin/service/grpc-host.ts';
import { registerAdmin } from '../../src/proxy/admin/service/register-admin.ts';

/** An admin service on a Unix socket that answers what a test says; throw Faults of the codes `admin-*`. */
export class AdminServer {
  readonly path: string;
  /** For openAdminClient. */
  readonly address: string;
  /** What was asked so far, in order. */
  readonly calls: { readonly method: string; readonly actor: string }[] = [];
  readonly #host = new GrpcHost();
  readonly #listener: Server;

  private constructor(path: string) {
    this.#listener = createServer((socket) => this.#host.accept(socket));
    this.path = path;
    this.address = `unix://${path}`;
  }

  static async start(handlers: Partial<AdminHandlers>, path = freePath()): Promise<AdminServer> {
    const admin = new AdminServer(path);
    registerAdmin(admin.#host.server, handlers, {
      caller: (method, { metadata }) => {
        const actor = String(metadata.get('kts-actor')[0] ?? '');
        admin.calls.push({ method, actor });
        return { name: actor, claimed: true, role: 'operator', remote: 'unix' };
      },
      onBug: (_, error) => {
        throw error;
      },
    });
    await new Promise<void>((resolve) => admin.#listener.listen(path, resolve));
    return admin;
  }

  /** Ends every connection, as a server that is killed. */
  close(): void {
    this.#listener.close();
    void this.#host.close();
    rmSync(this.path, { force: true });
  }
}

function freePath(): string {
  return join(tmpdir(), `kts-admin-${randomBytes(6).toString('hex')}.sock`);
}
