/** A DNS subdomain name as Kubernetes has it for names of objects. */
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MOST_CHARACTERS = 253;

/** The name of a server's Lease, as upstream has it. */
export function leaseNameOf(serverId: string): string {
  return `konnectivity-proxy-server-${serverId}`;
}

/** Whether the API takes that name for a Lease. */
export function isLeaseName(name: string): boolean {
  return name.length <= MOST_CHARACTERS && SUBDOMAIN.test(name);
}

/** Whether the API takes that name for a namespace. */
export function isNamespaceName(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);
}
