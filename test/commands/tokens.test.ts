import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../../src/commands/demo/free-port.ts';
import { FakeKubeApi } from '../peers/fake-kube-api.ts';
import { Inbox } from '../peers/inbox.ts';
import type { Pair } from '../peers/pki.ts';

const AUDIENCE = 'system:konnectivity-server';
const account = (namespace: string, name: string) => ({
  authenticated: true,
  user: { username: `system:serviceaccount:${namespace}:${name}` },
  audiences: [AUDIENCE],
});

/** The program as it is installed, and what it says. */
class Program {
  readonly lines = new Inbox<string>();
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;

  constructor(argv: readonly string[]) {
    this.child = spawn(process.execPath, ['bin/konnectivity-ts.js', ...argv], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    createInterface({ input: this.child.stderr as NodeJS.ReadableStream }).on('line', (line) =>
      this.lines.push(line),
    );
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  says(text: string | RegExp): Promise<string> {
    return this.lines.next((line) => (typeof text === 'string' ? line.includes(text) : text.test(line)));
  }

  async stop(): Promise<void> {
    this.child.kill();
    this.child.kill();
    await this.ended;
  }
}

describe('tokens of agents', () => {
  let fake: FakeKubeApi;
  let leaf: Pair;
  let agentPort: number;
  let server: Program;

  before(async () => {
    fake = await FakeKubeApi.start();
    const ca = await fake.pki.authority('agents see this');
    leaf = await fake.pki.server(ca);
    writeFileSync(join(fake.pki.directory, 'ca.crt'), ca.cert);
    fake.review = ({ token }) => {
      if (token === 'right') return account('kube-system', 'konnectivity-agent');
      if (token === 'other-account') return account('kube-system', 'default');
      return { authenticated: false, error: '[invalid bearer token]' };
    };
    agentPort = await freePort();
    server = new Program(await serveArguments(fake.kubeconfig()));
    await server.says('"Listening"');
  });

  after(async () => {
    await server?.stop();
    await fake?.close();
  });

  async function serveArguments(kubeconfig: string): Promise<string[]> {
    return [
      'serve',
      `--uds-name=${join(fake.pki.directory, 'frontend.sock')}`,
      '--server-port=0',
      '--agent-bind-address=127.0.0.1',
      `--agent-port=${agentPort}`,
      `--cluster-cert=${leaf.certFile}`,
      `--cluster-key=${leaf.keyFile}`,
      '--health-bind-address=127.0.0.1',
      `--health-port=${await freePort()}`,
      `--admin-port=${await freePort()}`,
      '--agent-namespace=kube-system',
      '--agent-service-account=konnectivity-agent',
      `--authentication-audience=${AUDIENCE}`,
      `--kubeconfig=${kubeconfig}`,
      '--kubeconfig-qps=100',
    ];
  }

  async function agentArguments(
    tokenFile: string,
  ): Promise<{ argv: string[]; readyz: () => Promise<Response> }> {
    const health = await freePort();
    const argv = [
      'agent',
      `--ca-cert=${join(fake.pki.directory, 'ca.crt')}`,
      `--proxy-server-port=${agentPort}`,
      '--health-server-host=127.0.0.1',
      `--health-server-port=${health}`,
      `--admin-server-port=${await freePort()}`,
      `--service-account-token-path=${tokenFile}`,
    ];
    return { argv, readyz: () => fetch(`http://127.0.0.1:${health}/readyz?verbose`) };
  }

  test('an agent says why it is refused, and connects once its token file is mended', async () => {
    const tokenFile = fake.pki.file('token', 'other-account\n');
    const { argv, readyz } = await agentArguments(tokenFile);
    const agent = new Program(argv);
    try {
      const words = /PERMISSION_DENIED: the token belongs to system:serviceaccount:kube-system:default, and/;
      assert.match(await agent.says('Cannot connect to a server'), words);
      assert.match(await server.says('Refused an agent'), /the token belongs to .*:default/);
      const refused = await readyz();
      assert.equal(refused.status, 503);
      assert.match(await refused.text(), words);

      writeFileSync(tokenFile, '');
      await agent.says(/Cannot connect .*--service-account-token-path .*token is empty/);
      writeFileSync(tokenFile, ' right\n');
      await agent.says('Connected to server');
      assert.equal((await readyz()).status, 200);
    } finally {
      await agent.stop();
    }
  });

  test('an agent says that the Kubernetes API cannot be reached', async () => {
    await fake.refuse();
    const { argv, readyz } = await agentArguments(fake.pki.file('unknown', 'unknown'));
    const agent = new Program(argv);
    try {
      const words =
        /UNAVAILABLE: the token cannot be checked: the Kubernetes API cannot be reached: nothing listens on/;
      assert.match(await agent.says('Cannot connect to a server'), words);
      assert.match(await (await readyz()).text(), words);
    } finally {
      await agent.stop();
      await fake.listen();
    }
  });

  for (const [name, contents, words] of [
    [
      'empty',
      '\n',
      /^konnectivity-ts: --service-account-token-path \S+ is empty; check who writes the token into it$/,
    ],
    [
      'of several lines',
      'a\nb',
      /^konnectivity-ts: --service-account-token-path \S+ has more than one line; \S/,
    ],
  ] as const) {
    test(`an agent whose token file is ${name} does not start`, async () => {
      const agent = new Program((await agentArguments(fake.pki.file('bad', contents))).argv);
      assert.equal(await agent.ended, 1);
      assert.equal(agent.lines.all.length, 1);
      assert.match(agent.lines.all[0] ?? '', words);
    });
  }

  for (const [name, text, words] of [
    [
      'is no kubeconfig',
      'hello',
      /^konnectivity-ts: --kubeconfig \S+ cannot be read: .*; give a kubeconfig$/,
    ],
    [
      'names no server',
      '{"users":[],"clusters":[]}',
      /^konnectivity-ts: --kubeconfig \S+ has no current-context; /,
    ],
  ] as const) {
    test(`a server whose kubeconfig ${name} does not start`, async () => {
      const other = new Program(await serveArguments(fake.pki.file('kubeconfig', text)));
      assert.equal(await other.ended, 1);
      assert.equal(other.lines.all.length, 1);
      assert.match(other.lines.all[0] ?? '', words);
    });
  }
});
