import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { buildGoTests, type GoRun, runGoTests } from './go-module.ts';
import { type Frontend, type ProxyPair, startProxyPair } from './proxy-pair.ts';
import { startTarget } from './target.ts';

const TRANSPORTS: Readonly<Record<string, Frontend & { egress: boolean }>> = {
  'GRPC over a Unix socket, by the egress selector': { mode: 'grpc', kind: 'unix', egress: true },
  'HTTPConnect over a Unix socket, by the egress selector': {
    mode: 'http-connect',
    kind: 'unix',
    egress: true,
  },
  'HTTPConnect over mTLS, by the egress selector': { mode: 'http-connect', kind: 'mtls', egress: true },
  'GRPC over mTLS, by the konnectivity client': { mode: 'grpc', kind: 'mtls', egress: false },
};
const TESTS: Readonly<Record<string, string>> = {
  TestUploadArrivesWhole: '8 MiB up arrive whole',
  TestDownloadArrivesWhole: '10 MiB down arrive whole',
  TestFiftyDialsAtOnceEachReachTheirOwn: '50 dials at once each reach their own destination',
  TestRefusedDestinationSaysSo: 'a refused destination says so',
  TestDestinationThatSpeaksFirstIsHeard: 'a destination that speaks first is heard',
  TestDestinationThatSpeaksAndEndsIsHeard: 'a destination that speaks and ends is heard to its end',
  TestClientThatEndsLosesNothing: 'a client that ends after its last byte loses none',
  TestCancelledDialEnds: 'a cancelled dial ends, here and at the agent',
  TestDialThatHangsIsAnswered: 'a dial that hangs is answered',
};

const directory = mkdtempSync(join(tmpdir(), 'kts-conformance-'));
const built = await buildGoTests(directory);
// All at once, which hides the seconds for which a dial hangs.
const runs = new Map<string, Promise<GoRun & { log: string }>>();

describe("the Go client and kube-apiserver's egress selector", () => {
  after(() => rmSync(directory, { recursive: true, force: true }));
  if ('missing' in built) {
    console.log(`conformance tests skipped: ${built.missing}`);
    it('dial through serve and agent', { skip: built.missing }, () => {});
    return;
  }
  for (const [name, transport] of Object.entries(TRANSPORTS)) {
    runs.set(name, run(built.program, transport));
    describe(name, () => {
      for (const [test, behaviour] of Object.entries(TESTS)) {
        it(behaviour, async (t) => {
          const { results, output, log } = await (runs.get(name) as Promise<GoRun & { log: string }>);
          if (results.get(test) === 'SKIP') t.skip('the egress selector has no context for this');
          else assert.equal(results.get(test), 'PASS', `${output}\nserver and agent:\n${log}`);
        });
      }
      it('and nothing else fails', async () => {
        const { results, exitCode, output } = await (runs.get(name) as Promise<GoRun>);
        assert.deepEqual([...results.keys()].sort(), Object.keys(TESTS).sort(), output);
        assert.equal(exitCode, 0, output);
      });
    });
  }
});

/** Dials through a server and an agent of their own, so that transports can run side by side. */
async function run(
  program: string,
  transport: (typeof TRANSPORTS)[string],
): Promise<GoRun & { log: string }> {
  const target = await startTarget();
  try {
    const pair = await startProxyPair(transport);
    try {
      const egress = transport.egress ? egressFile(pair, transport) : '';
      const scene = {
        Egress: egress,
        HTTPConnect: transport.mode === 'http-connect',
        Server: pair.address,
        CA: pair.caFile,
        Cert: pair.client.certFile,
        Key: pair.client.keyFile,
        ...target.addresses,
      };
      return { ...(await runGoTests(program, scene)), log: pair.log };
    } finally {
      await pair.close();
    }
  } finally {
    await target.close();
  }
}

/** The file that kube-apiserver gets as --egress-selector-config-file; JSON is YAML. */
function egressFile(pair: ProxyPair, transport: Frontend): string {
  const tlsConfig = {
    caBundle: pair.caFile,
    clientCert: pair.client.certFile,
    clientKey: pair.client.keyFile,
  };
  return pair.pki.file(
    'egress.yaml',
    JSON.stringify({
      apiVersion: 'apiserver.k8s.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [
        {
          name: 'cluster',
          connection: {
            proxyProtocol: transport.mode === 'grpc' ? 'GRPC' : 'HTTPConnect',
            transport:
              transport.kind === 'unix'
                ? { uds: { udsName: pair.address } }
                : { tcp: { url: `https://${pair.address}`, tlsConfig } },
          },
        },
      ],
    }),
  );
}
