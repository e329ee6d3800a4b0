import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate, type SelfsignedOptions } from 'selfsigned';

const DAY_MS = 86_400_000;

/** Files of a CA and of what it signed for the agent link. */
export interface PkiFiles {
  readonly caCert: string;
  readonly serverCert: string;
  readonly serverKey: string;
  readonly agentCert: string;
  readonly agentKey: string;
}

interface Pem {
  readonly cert: string;
  readonly key: string;
}

/** Makes a CA, a server certificate for 127.0.0.1 and an agent certificate, valid for a day. */
export async function makePki(directory: string): Promise<PkiFiles> {
  const ca = await issue('bench CA', undefined, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ]);
  const server = await issue('bench server', ca, [
    { name: 'keyUsage', digitalSignature: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    {
      name: 'subjectAltName',
      altNames: [
        { type: 2, value: 'localhost' },
        { type: 7, ip: '127.0.0.1' },
      ],
    },
  ]);
  const agent = await issue('bench agent', ca, [
    { name: 'keyUsage', digitalSignature: true, critical: true },
    { name: 'extKeyUsage', clientAuth: true },
  ]);
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  return {
    caCert: file('ca.crt', ca.cert),
    serverCert: file('server.crt', server.cert),
    serverKey: file('server.key', server.key),
    agentCert: file('agent.crt', agent.cert),
    agentKey: file('agent.key', agent.key),
  };
}

async function issue(
  commonName: string,
  ca: Pem | undefined,
  extensions: SelfsignedOptions['extensions'] & object,
): Promise<Pem> {
  const made = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + DAY_MS),
    extensions,
    ...(ca === undefined ? {} : { ca: { key: ca.key, cert: ca.cert } }),
  });
  return { cert: made.cert, key: made.private };
}
