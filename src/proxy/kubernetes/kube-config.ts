// The one module that loads @kubernetes/client-node. Import it dynamically: it costs 0.15 s and 19 MB.
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { load as parseYaml } from 'js-yaml';
import { Fault } from '../ops/fault.ts';
import { readTokenFile } from '../ops/token-file.ts';
import { pluginProblem, startPlugin } from './credential-plugin.ts';
import type { KubeAccess, KubeCredentials } from './kube-access.ts';
import { KubeFault } from './kube-fault.ts';

/** Where to look for the Kubernetes API. */
export interface KubeConfigOptions {
  /** Path of a kubeconfig; empty: that of the Pod. */
  readonly kubeconfig: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the kubelet puts token and CA of a Pod. */
  readonly serviceAccountDirectory?: string;
}

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

const MOST_BYTES = 4 * 1024 * 1024;

/** What we read ourselves of it. */
interface Kubeconfig {
  readonly users?: readonly { readonly name?: string; readonly user?: { readonly tokenFile?: unknown } }[];
  readonly clusters?: readonly unknown[];
}

interface Loaded {
  readonly config: KubeConfig;
  /** A file with a token, which KubeConfig does not know under this name, or reads only once; empty for none. */
  readonly tokenFile: string;
  /** For messages. */
  readonly label: string;
}

/**
 * Finds the Kubernetes API and checks the files that are named.
 * @throws Fault `kube-config`, and those of token files
 */
export async function loadKubeAccess(options: KubeConfigOptions): Promise<KubeAccess> {
  const loaded = options.kubeconfig === '' ? fromPod(options) : fromFile(options.kubeconfig);
  const { config, label } = loaded;
  boundPlugins(config);
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  if (cluster === null || user === null) {
    const missing = config.getCurrentContext() ? (cluster === null ? 'cluster' : 'user') : 'current-context';
    throw configFault(`${label} has no ${missing}`, 'give one that kubectl can use');
  }
  if (!/^https?:\/\//.test(cluster.server) || !URL.canParse(cluster.server)) {
    throw configFault(
      `${label} names the server ${cluster.server}, which is no URL`,
      'write https://host:port',
    );
  }
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify) {
    throw configFault(
      `${label} names the server ${cluster.server}, which has no TLS`,
      'use https, or set insecure-skip-tls-verify if you really mean it',
    );
  }
  // What a plug-in would say is not known before it is asked, and may be another thing the next time.
  if (!user.exec && !user.authProvider) {
    try {
      const { tls } = await credentialsOf(loaded);
      createSecureContext(tls);
      // Of a CA that is none, OpenSSL says nothing: it would trust nobody.
      if (tls.ca !== undefined) new X509Certificate(tls.ca as Buffer);
    } catch (cause) {
      if (cause instanceof Fault && !(cause instanceof KubeFault)) throw cause;
      throw configFault(`${label}: ${words(cause)}`, 'check the files that it names', cause);
    }
  }
  return {
    server: cluster.server,
    credentials: async () => {
      try {
        return await credentialsOf(loaded);
      } catch (cause) {
        const reason = cause instanceof Fault || !user.exec ? words(cause) : pluginProblem(cause);
        const message = `no credentials for the Kubernetes API: ${reason}`;
        throw new KubeFault('kube-credentials', message, { cause });
      }
    },
  };
}

/** KubeConfig lets a plug-in run for ever; the one that starts plug-ins has a function for it, made for tests. */
function boundPlugins(config: KubeConfig): void {
  const { authenticators } = config as unknown as { authenticators: readonly object[] };
  for (const one of authenticators) if ('execFn' in one) one.execFn = startPlugin;
}

function fromFile(path: string): Loaded {
  const label = `--kubeconfig ${path}`;
  const config = new KubeConfig();
  let tokenFile: unknown;
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > MOST_BYTES) throw new Error('it is no file of a usual size');
    const text = readFileSync(path, 'utf8');
    const { users, clusters } = (parseYaml(text) ?? {}) as Kubeconfig;
    if (!Array.isArray(users) || !Array.isArray(clusters)) throw new Error('it has no users or no clusters');
    config.loadFromString(text);
    config.makePathsAbsolute(dirname(path));
    tokenFile = users.find((one) => one?.name === config.getCurrentUser()?.name)?.user?.tokenFile;
  } catch (cause) {
    // The first line: what follows is an excerpt, which may hold secrets.
    throw configFault(`${label} cannot be read: ${words(cause).split('\n')[0]}`, 'give a kubeconfig', cause);
  }
  return { config, label, tokenFile: typeof tokenFile === 'string' ? resolve(dirname(path), tokenFile) : '' };
}

function fromPod({ env, serviceAccountDirectory = SERVICE_ACCOUNT_DIRECTORY }: KubeConfigOptions): Loaded {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) {
    throw configFault(
      '--kubeconfig is empty, and this process is in no Pod (KUBERNETES_SERVICE_HOST and _PORT are not set)',
      'give --kubeconfig',
    );
  }
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: 'pod',
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      caFile: `${serviceAccountDirectory}/ca.crt`,
      skipTLSVerify: false,
    },
    { name: 'pod' },
  );
  const tokenFile = `${serviceAccountDirectory}/token`;
  return { config, tokenFile, label: 'the service account of the Pod' };
}

async function credentialsOf({ config, tokenFile, label }: Loaded): Promise<KubeCredentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {}))
    headers[name.toLowerCase()] = String(value);
  if (options.auth) headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  if (tokenFile !== '') {
    headers.authorization = `Bearer ${await readTokenFile({ label: `token of ${label}:`, path: tokenFile })}`;
  }
  // Said here, since Node's error about a bad header comes with the request, and much later.
  if (/[^\t\x20-\x7e]/.test(headers.authorization ?? '')) {
    throw new KubeFault('kube-credentials', 'the token or password has characters that cannot be sent');
  }
  const { ca, cert, key, passphrase, servername, rejectUnauthorized } = options;
  return {
    headers,
    tls: {
      // Said explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED has no say.
      rejectUnauthorized: rejectUnauthorized ?? true,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(passphrase === undefined ? {} : { passphrase }),
      ...(servername === undefined ? {} : { servername }),
    },
    proxy:
      config.getCurrentCluster()?.proxyUrl && typeof options.agent === 'object' ? options.agent : undefined,
  };
}

function configFault(message: string, remedy: string, cause?: unknown): Fault {
  return new Fault('kube-config', message, remedy, cause);
}

function words(cause: unknown): string {
  if (cause instanceof Fault) return cause.line;
  return cause instanceof Error ? cause.message : String(cause);
}
