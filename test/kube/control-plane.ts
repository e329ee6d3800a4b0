import { join } from 'node:path';
import type { Pair } from '../peers/pki.ts';
import type { ClusterPki } from './cluster-pki.ts';
import { type Mode, places, settings } from './settings.ts';

const { ports } = places;
const any = (port: number, ...hosts: string[]): string => hosts.map((host) => `${host}:${port}`).join(',');

/** The command line of etcd. */
export function etcdCommand(directory: string): string[] {
  return [
    settings.etcd,
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${ports.etcd}`,
    `--advertise-client-urls=http://127.0.0.1:${ports.etcd}`,
    `--listen-peer-urls=http://127.0.0.1:${ports.etcdPeer}`,
    '--log-level=warn',
  ];
}

/**
 * Whether kube-apiserver dials the endpoints of a webhook's or aggregated API's service; otherwise it dials the address
 * of the service, or for an ExternalName service its name. Both kinds are to be seen.
 */
export function routesToEndpoints(mode: Mode): boolean {
  return mode === 'http-tcp';
}

/** The command line of kube-apiserver. */
export function apiserverCommand(mode: Mode, pki: ClusterPki, egressFile: string): string[] {
  return [
    settings.kubeApiserver,
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.apiserver}`,
    `--advertise-address=${places.kubernetes}`,
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.96.0.0/16',
    `--tls-cert-file=${pki.apiserver.certFile}`,
    `--tls-private-key-file=${pki.apiserver.keyFile}`,
    `--client-ca-file=${pki.ca.certFile}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-signing-key-file=${pki.accountKey}`,
    `--service-account-key-file=${pki.accountPublicKey}`,
    `--token-auth-file=${pki.tokens}`,
    '--authorization-mode=Node,RBAC',
    '--allow-privileged=true',
    `--kubelet-certificate-authority=${pki.ca.certFile}`,
    `--kubelet-client-certificate=${pki.kubeletClient.certFile}`,
    `--kubelet-client-key=${pki.kubeletClient.keyFile}`,
    `--requestheader-client-ca-file=${pki.frontProxyCa.certFile}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    `--proxy-client-cert-file=${pki.frontProxyClient.certFile}`,
    `--proxy-client-key-file=${pki.frontProxyClient.keyFile}`,
    `--enable-aggregator-routing=${routesToEndpoints(mode)}`,
    '--profiling=false',
    `--egress-selector-config-file=${egressFile}`,
  ];
}

/** The command line of the fake kubelet, which is also the aggregated API, the webhook and a plain service. */
export function fakeKubeletCommand(pki: ClusterPki): string[] {
  return [
    settings.fakeKubelet,
    `-kubelet=${any(ports.kubelet, '127.0.0.1', places.node)}`,
    `-api=${any(ports.api, '127.0.0.1', places.api, places.cluster)}`,
    `-plain=${any(ports.plain, '127.0.0.1', places.plain)}`,
    `-cert=${pki.fake.certFile}`,
    `-key=${pki.fake.keyFile}`,
    `-client-ca=${pki.fakeClientCas}`,
  ];
}

/** An EgressSelectorConfiguration; JSON is YAML. */
export function egressConfiguration(mode: Mode, socket: string, pki: ClusterPki): string {
  const tlsConfig = {
    caBundle: pki.konnectivityCa.certFile,
    clientCert: pki.egressClient.certFile,
    clientKey: pki.egressClient.keyFile,
  };
  const transport =
    mode === 'http-tcp'
      ? { tcp: { url: `https://127.0.0.1:${ports.frontend}`, tlsConfig } }
      : { uds: { udsName: socket } };
  return JSON.stringify({
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [
      {
        name: 'cluster',
        connection: { proxyProtocol: mode === 'grpc-uds' ? 'GRPC' : 'HTTPConnect', transport },
      },
    ],
  });
}

/** A kubeconfig for kube-apiserver; JSON is YAML. */
export function kubeconfig(ca: Pair, user: { token: string } | { tokenFile: string }): string {
  const server = `https://127.0.0.1:${ports.apiserver}`;
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority': ca.certFile } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}
