import { generateKeyPairSync } from 'node:crypto';
import { type Pair, Pki } from '../peers/pki.ts';
import { places } from './settings.ts';

/** Every certificate, key and token file of the cluster. */
export async function makeClusterPki() {
  const pki = new Pki();
  const ca = await pki.authority('kubernetes-ca');
  const frontProxyCa = await pki.authority('front-proxy-ca');
  const konnectivityCa = await pki.authority('konnectivity-ca');
  const server = (authority: Pair, commonName: string, dns: string[], ips: string[]): Promise<Pair> =>
    pki.issue(authority, { commonName, dns: ['localhost', ...dns], ips: ['127.0.0.1', ...ips] });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return {
    pki,
    ca,
    frontProxyCa,
    konnectivityCa,
    apiserver: await server(ca, 'kube-apiserver', ['kubernetes.default.svc'], [places.kubernetes]),
    kubeletClient: await pki.issue(ca, {
      commonName: 'kube-apiserver-kubelet-client',
      organization: 'system:masters',
      usage: 'client',
    }),
    frontProxyClient: await pki.client(frontProxyCa, { commonName: 'front-proxy-client' }),
    /** Of the fake kubelet, the aggregated API and the webhooks alike. */
    fake: await server(
      ca,
      'system:node:node-a',
      ['node-a', 'node-loop', 'demo.default.svc', 'ext.default.svc'],
      [places.node, places.api, places.cluster],
    ),
    fakeClientCas: pki.file('client-cas.crt', `${ca.cert}\n${frontProxyCa.cert}`),
    frontend: await server(konnectivityCa, 'konnectivity-server', [], []),
    egressClient: await pki.client(konnectivityCa, { commonName: 'kube-apiserver' }),
    agents: await server(ca, 'konnectivity-server', [], []),
    accountKey: pki.file('sa.key', privateKey),
    accountPublicKey: pki.file('sa.pub', publicKey),
    tokens: pki.file(
      'tokens.csv',
      'admin-token,admin,1,system:masters\nkonnectivity-token,system:konnectivity-server,2\n',
    ),
  };
}

export type ClusterPki = Awaited<ReturnType<typeof makeClusterPki>>;
