import type { DialTunnelOptions } from '../proxy/client/dial-tunnel.ts';
import type { TunnelMode, TunnelServer } from '../proxy/client/tunnel-server.ts';
import { Fault } from '../proxy/ops/fault.ts';
import { loadClientTls } from '../proxy/ops/tls-files.ts';
import { checkUnixPath } from '../proxy/ops/unix-path.ts';
import { checkDestination } from './check-destination.ts';
import type { DialFlags } from './dial-flags.ts';
import { LONGEST_TIMER_MS, parseGoDuration } from './flags/go-duration.ts';

/**
 * Where to dial, from the command line.
 * @throws Fault that names the argument, or the file
 */
export function dialTarget(
  address: string,
  flags: DialFlags,
): Pick<DialTunnelOptions, 'server' | 'mode' | 'address' | 'timeoutMs'> {
  checkDestination(address);
  const mode = readMode(flags.mode);
  if (flags.shutdown && mode === 'grpc') {
    throw new Fault(
      'flag-conflict',
      '--shutdown is given with --mode grpc, which has no half-close',
      'leave it out',
    );
  }
  return { address, mode, server: readServer(flags), timeoutMs: readTimeout(flags.timeout) };
}

function readMode(mode: string): TunnelMode {
  if (mode === 'grpc' || mode === 'http-connect') return mode;
  throw new Fault('flag-value', `--mode ${mode} is unknown`, 'give grpc or http-connect');
}

function readTimeout(text: string): number {
  const ms = parseGoDuration(text);
  if (typeof ms !== 'number') {
    throw new Fault('flag-value', `--timeout ${text} ${ms.problem}`, 'give a duration such as 30s or 1m30s');
  }
  if (ms <= 0) throw new Fault('flag-value', `--timeout ${text} leaves no time`, 'give more than 0');
  return Math.min(ms, LONGEST_TIMER_MS);
}

/** A path has a slash, or no port at its end. */
function readServer(flags: DialFlags): TunnelServer {
  const { server, cert, key, caCert } = flags;
  const match = server.includes('/') ? null : /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(server);
  if (match === null) {
    const path = server.replace(/^unix:/, '');
    checkUnixPath(path, '--server');
    if (cert !== undefined || key !== undefined || caCert !== undefined) {
      throw new Fault(
        'flag-conflict',
        `TLS files are given, but --server ${server} is a Unix socket, which has no TLS`,
        'leave them out, or give --server HOST:PORT',
      );
    }
    return { kind: 'unix', path };
  }
  const port = Number(match[3]);
  if (port < 1 || port > 65_535) {
    throw new Fault('flag-value', `--server ${server} has no valid port`, 'give a port from 1 to 65535');
  }
  if (caCert === undefined) {
    throw new Fault(
      'ca-missing',
      `--server ${server} speaks TLS, and --ca-cert is missing`,
      "give the CA that signed the server's certificate",
    );
  }
  const tls = loadClientTls({
    caFile: caCert,
    ...(cert === undefined ? {} : { certFile: cert }),
    ...(key === undefined ? {} : { keyFile: key }),
    labels: { cert: '--cert', key: '--key', ca: '--ca-cert' },
  });
  return { kind: 'tls', host: (match[1] ?? match[2]) as string, port, tls };
}
