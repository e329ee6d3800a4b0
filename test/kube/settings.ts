/** How kube-apiserver reaches the server. */
export type Mode = 'grpc-uds' | 'http-uds' | 'http-tcp';

const ALL: readonly Mode[] = ['grpc-uds', 'http-uds', 'http-tcp'];
const ours = [process.execPath, 'bin/konnectivity-ts.js'];

/** The modes to run; $KUBE_MODES takes fewer. */
export const modes: readonly Mode[] = ALL.filter((mode) => (process.env.KUBE_MODES ?? mode).includes(mode));

/** Programs and features, from the environment. A command line takes the flags behind it. */
export const settings = {
  directory: process.env.KUBE_DIRECTORY ?? '',
  kubeApiserver: process.env.KUBE_APISERVER ?? '',
  etcd: process.env.ETCD ?? '',
  kubectl: process.env.KUBECTL ?? '',
  fakeKubelet: process.env.FAKE_KUBELET ?? '',
  pair: {
    server: words(process.env.KUBE_SERVER) ?? [...ours, 'serve'],
    agent: words(process.env.KUBE_AGENT) ?? [...ours, 'agent'],
  },
  /** Another pair to change places with; both or neither. */
  otherPair: {
    server: words(process.env.KUBE_OTHER_SERVER),
    agent: words(process.env.KUBE_OTHER_AGENT),
  },
  tokens: process.env.KUBE_TOKENS !== '0',
  leases: process.env.KUBE_LEASES !== '0',
} as const;

/** Addresses of the namespace, which has nothing but them, and ports, of which nobody else can take one. */
export const places = {
  node: '10.97.0.1',
  api: '10.97.0.2',
  plain: '10.97.0.3',
  cluster: '10.96.0.50',
  kubernetes: '10.96.0.1',
  ports: {
    apiserver: 16443,
    etcd: 12379,
    etcdPeer: 12380,
    frontend: 18090,
    agents: 18091,
    serverHealth: 18092,
    serverAdmin: 18095,
    agentHealth: 18200,
    agentAdmin: 18300,
    kubelet: 10250,
    api: 8443,
    plain: 8080,
  },
} as const;

function words(command: string | undefined): string[] | undefined {
  return command?.split(' ').filter((word) => word !== '');
}
