import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { connect, createServer, type SecureVersion } from 'node:tls';
import { generate } from 'selfsigned';
import { CIPHER_SUITE_NAMES, tlsCiphers } from '../../src/commands/flags/go-tls-names.ts';

const rsa = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 });
const ec = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec', curve: 'P-256' });

/** Connects once at exactly `version`; the suite that was agreed on, or the code of the error. */
async function handshake(names: readonly string[], minVersion: SecureVersion, version: SecureVersion) {
  const { private: key, cert } = names.some((name) => name.includes('ECDSA')) ? ec : rsa;
  const ciphers = tlsCiphers(names, minVersion);
  const server = createServer({ key, cert, minVersion, ...(ciphers === undefined ? {} : { ciphers }) });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    ca: cert,
    checkServerIdentity: () => undefined,
    minVersion: version,
    maxVersion: version,
    ciphers: 'DEFAULT@SECLEVEL=0:TLS_AES_128_GCM_SHA256',
  });
  try {
    await once(client, 'secureConnect');
    return client.getCipher().standardName;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    client.destroy();
    server.close();
    await once(server, 'close');
  }
}

describe('cipher suites by their Go names', () => {
  for (const name of CIPHER_SUITE_NAMES.filter((suite) => suite.includes('_WITH_'))) {
    test(`${name} is the one that is agreed on`, async () => {
      assert.equal(await handshake([name], 'TLSv1.2', 'TLSv1.2'), name);
    });
  }

  test('TLS 1.3 is there whatever was chosen', async () => {
    const chosen = ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'];
    assert.equal(await handshake(chosen, 'TLSv1.2', 'TLSv1.3'), 'TLS_AES_128_GCM_SHA256');
    assert.equal(await handshake(chosen, 'TLSv1.3', 'TLSv1.3'), 'TLS_AES_128_GCM_SHA256');
  });

  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    test(`${version} works when it is allowed, and not otherwise`, async () => {
      const chosen = ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA'];
      assert.equal(await handshake(chosen, version, version), chosen[0]);
      assert.match((await handshake([], version, version)) ?? '', /^TLS_/);
      assert.match((await handshake(chosen, 'TLSv1.2', version)) ?? '', /^(ERR_|ECONNRESET)/);
    });
  }
});
