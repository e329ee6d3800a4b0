import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Fault } from '../../src/proxy/ops/fault.ts';
import { loadClientTls, loadServerTls } from '../../src/proxy/ops/tls-files.ts';
import { expired, notYetValid, type Pair, Pki } from '../peers/pki.ts';

const labels = { cert: '--cluster-cert', key: '--cluster-key', ca: '--cluster-ca-cert' };
const pki = new Pki();
let ca: Pair;
let server: Pair;

before(async () => {
  ca = await pki.authority('test CA');
  server = await pki.server(ca);
});
after(() => pki.remove());

function load(files: { certFile?: string; keyFile?: string; caFile?: string }) {
  return loadServerTls({ certFile: server.certFile, keyFile: server.keyFile, labels, ...files });
}

test('a pair without a CA asks clients for nothing', () => {
  const tls = load({});
  assert.equal(tls.options.requestCert, false);
  assert.equal(tls.options.minVersion, 'TLSv1.2');
  assert.deepEqual(tls.warnings, []);
  assert.match(tls.certificate?.subject ?? '', /CN=server/);
});

test('a pair with a CA demands a certificate of clients', () => {
  const tls = load({ caFile: ca.certFile });
  assert.equal(tls.options.requestCert, true);
  assert.equal(tls.options.rejectUnauthorized, true);
});

test('a chain with its issuer behind it is loaded whole', () => {
  const chain = pki.file('chain.crt', `${server.cert}\n${ca.cert}`);
  assert.equal(load({ certFile: chain }).options.cert.match(/BEGIN CERTIFICATE/g)?.length, 2);
});

const refusals: readonly [string, () => Parameters<typeof load>[0], string, RegExp][] = [
  [
    'a missing file',
    () => ({ certFile: '/nowhere/x.crt' }),
    'file-missing',
    /^--cluster-cert \/nowhere\/x\.crt does not/,
  ],
  ['a directory', () => ({ keyFile: directory() }), 'file-unreadable', /--cluster-key .* is a directory/],
  ['an endless device', () => ({ keyFile: '/dev/zero' }), 'file-too-large', /--cluster-key \/dev\/zero/],
  ['an empty file', () => ({ certFile: pki.file('empty', '') }), 'not-pem', /is empty/],
  ['text', () => ({ certFile: pki.file('text', 'hello') }), 'not-pem', /is not a PEM file/],
  [
    'DER',
    () => ({ certFile: pki.file('der', new X509Certificate(server.cert).raw) }),
    'not-pem',
    /looks like DER/,
  ],
  ['a key for a certificate', () => ({ certFile: server.keyFile }), 'bad-certificate', /swapped/],
  ['a certificate for a key', () => ({ keyFile: server.certFile }), 'bad-key', /holds no private key/],
  [
    'a cut certificate',
    () => ({ certFile: pki.file('cut', server.cert.slice(0, 300)) }),
    'bad-certificate',
    /no end/,
  ],
  [
    'a cut key',
    () => ({ keyFile: pki.file('cut.key', server.key.slice(0, 100)) }),
    'bad-key',
    /cannot be read/,
  ],
  ['a broken certificate', () => ({ certFile: pki.file('broken', broken()) }), 'bad-certificate', /1 of 1/],
  ['an encrypted key', () => ({ keyFile: pki.file('locked', locked()) }), 'key-encrypted', /passphrase/],
  [
    'the key of another certificate',
    () => ({ keyFile: ca.keyFile }),
    'key-mismatch',
    /--cluster-key .*--cluster-cert .*CN=server/,
  ],
  [
    'a certificate without key',
    () => ({ keyFile: '' }),
    'cert-without-key',
    /--cluster-cert .* without --cluster-key/,
  ],
  [
    'a key without certificate',
    () => ({ certFile: '' }),
    'key-without-cert',
    /--cluster-key .* without --cluster-cert/,
  ],
  [
    'neither',
    () => ({ certFile: '', keyFile: '' }),
    'cert-missing',
    /--cluster-cert and --cluster-key are empty/,
  ],
  [
    'a CA bundle without certificates',
    () => ({ caFile: server.keyFile }),
    'bad-certificate',
    /--cluster-ca-cert .* holds no/,
  ],
  [
    'an empty CA bundle',
    () => ({ caFile: pki.file('empty.ca', '') }),
    'not-pem',
    /--cluster-ca-cert .* is empty/,
  ],
  [
    'a half-written CA bundle',
    () => ({ caFile: pki.file('half', `${ca.cert}\n${ca.cert.slice(0, 99)}`) }),
    'bad-certificate',
    /1 of 2/,
  ],
];
for (const [what, files, code, words] of refusals) {
  test(`${what} is refused with the flag and the file`, () => {
    assert.throws(
      () => load(files()),
      (error: unknown) => {
        assert.ok(error instanceof Fault, String(error));
        assert.equal(error.code, code, error.line);
        assert.match(error.line, words);
        return true;
      },
    );
  });
}

test('an expired certificate is loaded with a warning', async () => {
  const old = await pki.server(ca, expired);
  const { warnings } = load(old);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /--cluster-cert .*CN=server.* expired on/);
});

test('a certificate from the future is loaded with a warning', async () => {
  assert.match(load(await pki.server(ca, notYetValid)).warnings[0] ?? '', /not valid before/);
});

test('a client needs a CA and no certificate', () => {
  assert.equal(loadClientTls({ caFile: ca.certFile, labels }).certificate, undefined);
  assert.throws(() => loadClientTls({ caFile: '', labels }), { code: 'ca-missing' });
  assert.throws(() => loadClientTls({ caFile: ca.certFile, certFile: server.certFile, labels }), {
    code: 'cert-without-key',
  });
});

function directory(): string {
  const path = join(pki.directory, 'directory');
  mkdirSync(path);
  return path;
}

/** A well-formed PEM block whose bytes are no certificate. */
function broken(): string {
  const body = Buffer.alloc(200, 7).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
}

function locked(): string {
  const options = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  return createPrivateKey(server.key).export(options).toString();
}
