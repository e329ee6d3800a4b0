import type { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureVersion } from 'node:tls';
import { Fault } from './fault.ts';
import { type LabelledFile, named, readCertificates, readPrivateKey } from './pem-file.ts';

/** How messages call the three files: the flags by which they were given. */
export interface TlsLabels {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface ServerTlsOptions {
  readonly certFile: string;
  readonly keyFile: string;
  /** Signs the certificates of clients; empty: none is asked for. */
  readonly caFile?: string;
  readonly labels: TlsLabels;
  /** Default TLSv1.2. */
  readonly minVersion?: SecureVersion;
  /** OpenSSL names, colon-separated, for TLS 1.2 and below; Node's list by default. */
  readonly ciphers?: string;
}

export interface ClientTlsOptions {
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly caFile: string;
  readonly labels: TlsLabels;
  readonly minVersion?: SecureVersion;
}

/** What was read, for warnings and expiry metrics. */
interface Loaded {
  /** Lines for the log: certificates that are expired or not valid yet. They may be replaced in time, so not fatal. */
  readonly warnings: readonly string[];
  /** The first certificate of the chain, which the peer sees; undefined when there is none. */
  readonly certificate: X509Certificate | undefined;
}

/** The TLS side of a listener. Loading it again and giving it to `setSecureContext` replaces it. */
export interface ServerTls extends Loaded {
  readonly options: {
    readonly cert: string;
    readonly key: string;
    readonly ca?: string;
    readonly requestCert: boolean;
    readonly rejectUnauthorized: boolean;
    readonly minVersion: SecureVersion;
    readonly ciphers?: string;
  };
}

/** The TLS side of a client. */
export interface ClientTls extends Loaded {
  readonly secureContext: SecureContext;
}

const DEFAULT_MIN_VERSION: SecureVersion = 'TLSv1.2';

/** Loads a server's files. Throws the Faults of pem-file.ts, `cert-without-key`, `key-without-cert`, `key-mismatch`. */
export function loadServerTls(options: ServerTlsOptions): ServerTls {
  const pair = loadPair(options.certFile, options.keyFile, options.labels);
  if (pair === undefined) {
    throw new Fault(
      'cert-missing',
      `${options.labels.cert} and ${options.labels.key} are empty`,
      'give both',
    );
  }
  const ca =
    options.caFile === undefined || options.caFile === ''
      ? undefined
      : loadCa(options.caFile, options.labels);
  const tls = {
    cert: pair.cert,
    key: pair.key,
    ...(ca === undefined ? {} : { ca: ca.pem }),
    requestCert: ca !== undefined,
    rejectUnauthorized: ca !== undefined,
    minVersion: options.minVersion ?? DEFAULT_MIN_VERSION,
    ...(options.ciphers === undefined ? {} : { ciphers: options.ciphers }),
  };
  // OpenSSL's own objections (a key too small, no usable cipher) must come now, not at the first handshake.
  secureContext(tls, `${options.labels.cert} and ${options.labels.key}`);
  return {
    options: tls,
    certificate: pair.certificate,
    warnings: [...pair.warnings, ...(ca?.warnings ?? [])],
  };
}

/** Loads a client's files; a certificate is optional. Throws the Faults of loadServerTls and `ca-missing`. */
export function loadClientTls(options: ClientTlsOptions): ClientTls {
  const pair = loadPair(options.certFile ?? '', options.keyFile ?? '', options.labels);
  if (options.caFile === '') {
    throw new Fault(
      'ca-missing',
      `${options.labels.ca} is empty`,
      'give the CA that signed the server certificate',
    );
  }
  const ca = loadCa(options.caFile, options.labels);
  const context = secureContext(
    {
      ca: ca.pem,
      ...(pair === undefined ? {} : { cert: pair.cert, key: pair.key }),
      minVersion: options.minVersion ?? DEFAULT_MIN_VERSION,
    },
    `${options.labels.cert}, ${options.labels.key} and ${options.labels.ca}`,
  );
  return {
    secureContext: context,
    certificate: pair?.certificate,
    warnings: [...(pair?.warnings ?? []), ...ca.warnings],
  };
}

function loadPair(certFile: string, keyFile: string, labels: TlsLabels) {
  if (certFile === '' && keyFile === '') return undefined;
  if (keyFile === '') {
    throw new Fault(
      'cert-without-key',
      `${labels.cert} ${certFile} is given without ${labels.key}`,
      'give both',
    );
  }
  if (certFile === '') {
    throw new Fault(
      'key-without-cert',
      `${labels.key} ${keyFile} is given without ${labels.cert}`,
      'give both',
    );
  }
  const cert: LabelledFile = { label: labels.cert, path: certFile };
  const key: LabelledFile = { label: labels.key, path: keyFile };
  const chain = readCertificates(cert);
  const privateKey = readPrivateKey(key);
  const leaf = chain.certificates[0] as X509Certificate;
  if (!leaf.checkPrivateKey(privateKey.key)) {
    throw new Fault(
      'key-mismatch',
      `${named(key)} is not the key of the certificate in ${named(cert)} (${subject(leaf)})`,
      'give the pair that was made together; in a chain the own certificate comes first',
    );
  }
  return {
    cert: chain.pem,
    key: privateKey.pem,
    certificate: leaf,
    warnings: validityWarnings(cert, chain.certificates),
  };
}

function loadCa(caFile: string, labels: TlsLabels) {
  const file: LabelledFile = { label: labels.ca, path: caFile };
  const { pem, certificates } = readCertificates(file);
  return { pem, warnings: validityWarnings(file, certificates) };
}

function validityWarnings(file: LabelledFile, certificates: readonly X509Certificate[]): string[] {
  const now = Date.now();
  const warnings: string[] = [];
  for (const certificate of certificates) {
    const who = `the certificate in ${named(file)} (${subject(certificate)})`;
    if (Date.parse(certificate.validTo) < now) warnings.push(`${who} expired on ${certificate.validTo}`);
    else if (Date.parse(certificate.validFrom) > now) {
      warnings.push(`${who} is not valid before ${certificate.validFrom}`);
    }
  }
  return warnings;
}

function secureContext(options: Parameters<typeof createSecureContext>[0], what: string): SecureContext {
  try {
    return createSecureContext(options);
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new Fault('tls-refused', `OpenSSL refuses ${what}: ${text}`, '', cause);
  }
}

function subject(certificate: X509Certificate): string {
  return certificate.subject === undefined || certificate.subject === ''
    ? 'no subject'
    : certificate.subject.replaceAll('\n', ', ');
}
