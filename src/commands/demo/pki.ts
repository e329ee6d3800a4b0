import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate, type SelfsignedOptions } from 'selfsigned';

const DAY_MS = 86_400_000;

/** The files of the demo's certificates, all in one directory, readable by their owner alone. */
export interface DemoPki {
  readonly caFile: string;
  readonly server: { readonly certFile: string; readonly keyFile: string };
  readonly client: { readonly certFile: string; readonly keyFile: string };
}

type Extensions = NonNullable<SelfsignedOptions['extensions']>;

/** Makes a CA, a server certificate for localhost, and a client certificate, valid for a day. */
export async function makeDemoPki(directory: string): Promise<DemoPki> {
  const ca = await make('konnectivity-ts demo CA', undefined, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ]);
  const server = await make('konnectivity-ts demo server', ca, [
    ...leaf('server'),
    {
      name: 'subjectAltName',
      altNames: [
        { type: 2, value: 'localhost' },
        { type: 7, ip: '127.0.0.1' },
      ],
    },
  ]);
  const client = await make('konnectivity-ts demo client', ca, leaf('client'));
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    chmodSync(path, 0o600);
    return path;
  };
  // The CA's key is not written: nobody else gets a certificate.
  return {
    caFile: write('ca.crt', ca.cert),
    server: { certFile: write('server.crt', server.cert), keyFile: write('server.key', server.private) },
    client: { certFile: write('client.crt', client.cert), keyFile: write('client.key', client.private) },
  };
}

function leaf(usage: 'server' | 'client'): Extensions {
  return [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, critical: true },
    { name: 'extKeyUsage', serverAuth: usage === 'server', clientAuth: usage === 'client' },
  ];
}

async function make(
  commonName: string,
  ca: { readonly cert: string; readonly private: string } | undefined,
  extensions: Extensions,
) {
  return await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + DAY_MS),
    extensions,
    ...(ca === undefined ? {} : { ca: { key: ca.private, cert: ca.cert } }),
  });
}
