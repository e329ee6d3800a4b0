import { isLeaseName, isNamespaceName, leaseNameOf } from '../../proxy/kubernetes/lease-name.ts';
import type { FlagChecks } from './flag-checks.ts';

/** What the API would refuse again and again is refused here. */
export function checkLeaseNamespace(checks: FlagChecks, namespace: string): void {
  if (isNamespaceName(namespace)) return;
  checks.refuse(
    'flag-value',
    `${checks.shown('lease-namespace')} is no name of a namespace`,
    'give the one of the Leases, such as kube-system',
  );
}

/** The Lease of a server has its ID in its name. */
export function checkLeaseName(checks: FlagChecks, serverId: string): void {
  const name = leaseNameOf(serverId);
  if (isLeaseName(name)) return;
  const message = `--server-id (or PROXY_SERVER_ID) "${serverId}" makes "${name}", which cannot be the name of a Lease`;
  checks.refuse(
    'flag-value',
    message,
    'with --enable-lease-controller use an ID of at most 227 lower-case letters, digits, - and .',
  );
}
