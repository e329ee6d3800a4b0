import { tmpdir } from 'node:os';
import type { AdminService } from '../proxy/admin/service/open-admin-service.ts';
import type { Log } from '../proxy/ops/log.ts';
import type { ProxyServer } from '../proxy/server/proxy-server.ts';
import type { ServeOptions } from './flags/serve-options.ts';
import type { CommandIo } from './io.ts';

/** Opens the admin API of `serve` as its flags say. @throws Fault; nothing is left open then */
export async function serveAdmin(
  server: ProxyServer,
  { adminApi, stateDirectory }: Pick<ServeOptions, 'adminApi' | 'stateDirectory'>,
  io: Pick<CommandIo, 'env'>,
  log: Log,
): Promise<AdminService | undefined> {
  const { socket, tcp, auditLog } = adminApi;
  if (socket === '' && tcp === undefined) return undefined;
  const { openAdminService } = await import('../proxy/admin/service/open-admin-service.ts');
  const facts = { uid: process.getuid?.(), env: io.env, temporary: tmpdir() };
  return await openAdminService(
    server,
    {
      socket:
        socket === ''
          ? { kind: 'off' }
          : socket === 'auto'
            ? { kind: 'default', facts }
            : { kind: 'path', path: socket },
      ...(tcp === undefined ? {} : { tcp: { host: tcp.host, port: tcp.port, ...tcp.tls } }),
      auditLog,
      keepsOrders: stateDirectory !== '',
    },
    log.named('serve-admin'),
  );
}
