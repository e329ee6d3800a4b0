import type { Agent } from 'node:http';
import type { SecureContextOptions } from 'node:tls';

/** How to show who we are, for one request. */
export interface KubeCredentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'> & {
    readonly servername?: string;
    readonly rejectUnauthorized: boolean;
  };
  /** Connects through the proxy of the kubeconfig; undefined: straight. */
  readonly proxy: Agent | undefined;
}

/** Where the Kubernetes API is, and as whom we speak to it. */
export interface KubeAccess {
  /** Without a slash at the end. */
  readonly server: string;
  /** Read anew for each request: token files and certificates are replaced while we run. Rejects with a KubeFault. */
  credentials(): Promise<KubeCredentials>;
}
