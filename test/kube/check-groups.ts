import { drain } from './checks/drain.ts';
import { exec } from './checks/exec.ts';
import { faults } from './checks/faults.ts';
import { leases } from './checks/leases.ts';
import { load } from './checks/load.ts';
import { logs } from './checks/logs.ts';
import { services } from './checks/services.ts';
import { swap } from './checks/swap.ts';
import { tokens } from './checks/tokens.ts';
import type { Cluster } from './cluster.ts';

/** Every group of checks, in the order in which they run on one cluster. */
export const checkGroups: Readonly<Record<string, (cluster: Cluster) => void>> = {
  'logs: both kinds of node, 64 MiB, an aborted -f, the error of a dead node': logs,
  'exec and attach: WebSocket and SPDY on both halves, 20 MB out, 8 MiB in and back, exit codes, stderr':
    exec,
  'service, pod and node proxy, port-forward, aggregated API, webhooks': services,
  'drain: an exec runs on while its agent drains, new ones use the other': drain,
  'load: 500 log requests 50 at a time, 200 x 1 MB 100 at a time': load,
  'tokens: right, other audience, other account, other namespace, garbage, bound to a deleted Pod': tokens,
  'leases: published, renewed, counted, collected, taken along': leases,
  'faults: agent restarted, no agent, no server, server restarted': faults,
  'swap: another pair with the same flags, sockets, files and leases, and back': swap,
};
