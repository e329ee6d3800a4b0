import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from './api.ts';
import { type ClusterPki, makeClusterPki } from './cluster-pki.ts';
import {
  apiserverCommand,
  egressConfiguration,
  etcdCommand,
  fakeKubeletCommand,
  kubeconfig,
} from './control-plane.ts';
import { type KubectlOptions, type KubectlRun, runKubectl } from './kubectl.ts';
import { Program } from './program.ts';
import { Proxies } from './proxies.ts';
import { type Mode, places, settings } from './settings.ts';
import { until } from './until.ts';

const READY = { conditions: [{ type: 'Ready', status: 'True' }] };
const MERGE = 'application/merge-patch+json';

/** etcd, kube-apiserver, a fake kubelet, and our server and agents between the latter two. */
export class Cluster {
  readonly mode: Mode;
  readonly directory: string;
  #pki: ClusterPki | undefined;
  #api: Api | undefined;
  #proxies: Proxies | undefined;
  #kubelet: Program | undefined;
  readonly #programs: Program[] = [];

  constructor(mode: Mode) {
    this.mode = mode;
    this.directory = join(settings.directory, mode);
  }

  get api(): Api {
    assert.ok(this.#api);
    return this.#api;
  }

  get proxies(): Proxies {
    assert.ok(this.#proxies);
    return this.#proxies;
  }

  get kubelet(): Program {
    assert.ok(this.#kubelet);
    return this.#kubelet;
  }

  /** Resolves when requests go through the tunnel. */
  async up(): Promise<void> {
    mkdirSync(this.directory, { recursive: true });
    const pki = await makeClusterPki();
    this.#pki = pki;
    const socket = join(this.directory, 'k.sock');
    const egressFile = this.#file('egress.yaml', egressConfiguration(this.mode, socket, pki));
    this.#file('admin.kubeconfig', kubeconfig(pki.ca, { token: 'admin-token' }));
    this.#start('etcd', etcdCommand(this.directory));
    const apiserver = this.#start('kube-apiserver', apiserverCommand(this.mode, pki, egressFile));
    this.#kubelet = this.#start('kubelet', fakeKubeletCommand(pki));
    const api = new Api(pki.ca.cert);
    this.#api = api;
    await until('kube-apiserver is ready', async () => {
      assert.ok(apiserver.running, apiserver.log.slice(-2000));
      return await api.request('GET', '/readyz').then(
        ({ status }) => status === 200,
        () => false,
      );
    });
    await this.#makeObjects(pki);
    const agentToken = await api.token('kube-system', 'konnectivity-agent', 'system:konnectivity-server');
    const apiToken = await api.token('kube-system', 'konnectivity-agent');
    const apiTokenFile = this.#file('agent-api.token', apiToken);
    this.#proxies = new Proxies(this.mode, pki, {
      directory: this.directory,
      socket,
      serverKubeconfig: this.#file('server.kubeconfig', kubeconfig(pki.ca, { token: 'konnectivity-token' })),
      agentKubeconfig: this.#file('agent.kubeconfig', kubeconfig(pki.ca, { tokenFile: apiTokenFile })),
      agentToken: this.#file('agent.token', agentToken),
    });
    await this.proxies.startServer();
    this.proxies.startAgent(1);
    await this.proxies.ready();
  }

  async down(): Promise<void> {
    this.#api?.close();
    await this.#proxies?.close();
    for (const program of this.#programs.reverse()) await program.stop();
    this.#pki?.pki.remove();
  }

  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlRun> {
    return runKubectl(join(this.directory, 'admin.kubeconfig'), args, options);
  }

  /** The output of a kubectl that must succeed. */
  async output(args: readonly string[], options?: KubectlOptions): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, options);
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`);
    return stdout.toString();
  }

  /** Writes a file for a program of the cluster. */
  file(name: string, text: string): string {
    return this.#file(name, text);
  }

  async #makeObjects(pki: ClusterPki): Promise<void> {
    const { node, api, plain, cluster, ports } = places;
    const values: Record<string, string> = {
      '@CA@': Buffer.from(pki.ca.cert).toString('base64'),
      '@NODE_IP@': node,
      '@API_IP@': api,
      '@PLAIN_IP@': plain,
      '@CLUSTER_IP@': cluster,
    };
    const objects = readFileSync('test/kube/objects.yaml', 'utf8').replace(
      /@\w+@/g,
      (key) => values[key] ?? key,
    );
    // The namespaces of a new cluster take a moment.
    await until('kube-system is there', async () => {
      return (await this.api.request('GET', '/api/v1/namespaces/kube-system')).status === 200;
    });
    await this.output(['apply', '-f', this.#file('objects.yaml', objects)]);
    const nodes: [string, string, number, string[]][] = [
      ['node-a', node, ports.kubelet, []],
      ['node-loop', '127.0.0.1', ports.kubelet, []],
      ['node-ws', '127.0.0.1', ports.kubelet, ['ExtendWebSocketsToKubelet']],
      ['node-dead', '127.0.0.1', 1, []],
    ];
    for (const [name, address, port, declaredFeatures] of nodes) {
      const addresses = [{ type: 'InternalIP', address }];
      const daemonEndpoints = { kubeletEndpoint: { Port: port } };
      const status = { addresses, daemonEndpoints, declaredFeatures, ...READY };
      await this.api.json('PATCH', `/api/v1/nodes/${name}/status`, { status }, MERGE);
    }
    for (const name of ['x', 'loop', 'ws', 'dead', 'big']) {
      const status = { phase: 'Running', podIP: plain, podIPs: [{ ip: plain }], ...READY };
      await this.api.json('PATCH', `/api/v1/namespaces/default/pods/${name}/status`, { status }, MERGE);
    }
  }

  #start(name: string, command: readonly string[]): Program {
    const program = new Program(name, this.directory, command);
    this.#programs.push(program);
    return program;
  }

  #file(name: string, text: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, text);
    return path;
  }
}
