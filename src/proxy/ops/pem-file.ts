import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { Fault } from './fault.ts';

const MAX_PEM_BYTES = 4 * 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** A file and the flag (or other words) by which its owner knows it. */
export interface LabelledFile {
  readonly label: string;
  readonly path: string;
}

/** The text of a PEM file. Throws the Faults `file-missing`, `file-unreadable`, `file-too-large` and `not-pem`. */
export function readPem(file: LabelledFile): string {
  const bytes = readBounded(file);
  const text = bytes.toString('latin1');
  if (text.includes('-----BEGIN ')) return text;
  const where = named(file);
  if (bytes.length === 0) throw new Fault('not-pem', `${where} is empty`);
  // An ASN.1 SEQUENCE with a long length is how DER certificates and keys begin.
  const der = bytes[0] === 0x30 && (bytes[1] ?? 0) >= 0x80;
  throw new Fault(
    'not-pem',
    `${where} is not a PEM file${der ? ' (it looks like DER)' : ''}`,
    'give a PEM file',
  );
}

/** All certificates of a PEM file, in order, at least one. Throws the Faults of readPem and `bad-certificate`. */
export function readCertificates(file: LabelledFile): { pem: string; certificates: X509Certificate[] } {
  const pem = readPem(file);
  const blocks = pem.match(CERTIFICATE) ?? [];
  const begun = pem.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (begun !== blocks.length) {
    const count = `${begun - blocks.length} of ${begun} certificates`;
    throw new Fault(
      'bad-certificate',
      `${count} in ${named(file)} have no end`,
      'the file may be cut or half written',
    );
  }
  if (blocks.length === 0) {
    const remedy = pem.includes('PRIVATE KEY-----') ? 'it holds a private key: are two files swapped?' : '';
    throw new Fault('bad-certificate', `${named(file)} holds no certificate`, remedy);
  }
  const certificates = blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw new Fault(
        'bad-certificate',
        `certificate ${index + 1} of ${blocks.length} in ${named(file)} cannot be read: ${reason(cause)}`,
        'the file may be cut or half written',
        cause,
      );
    }
  });
  return { pem, certificates };
}

/** The private key of a PEM file. Throws the Faults of readPem, `key-encrypted` and `bad-key`. */
export function readPrivateKey(file: LabelledFile): { pem: string; key: KeyObject } {
  const pem = readPem(file);
  try {
    return { pem, key: createPrivateKey(pem) };
  } catch (cause) {
    if (/PASSPHRASE|ENCRYPTED/i.test(`${(cause as NodeJS.ErrnoException).code} ${pem}`)) {
      throw new Fault(
        'key-encrypted',
        `${named(file)} is encrypted`,
        'give a key without a passphrase',
        cause,
      );
    }
    const what = pem.includes('PRIVATE KEY-----')
      ? `cannot be read: ${reason(cause)}`
      : 'holds no private key';
    throw new Fault('bad-key', `${named(file)} ${what}`, '', cause);
  }
}

/** `--cluster-cert /etc/tls.crt`, for messages. */
export function named(file: LabelledFile): string {
  return `${file.label} ${file.path}`;
}

/** Reads at most MAX_PEM_BYTES, so that a device named by mistake cannot fill the memory. */
function readBounded(file: LabelledFile): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file.path, 'r');
    const chunks: Buffer[] = [];
    let total = 0;
    for (;;) {
      const chunk = Buffer.alloc(64 * 1024);
      const count = readSync(descriptor, chunk);
      if (count === 0) return Buffer.concat(chunks);
      total += count;
      if (total > MAX_PEM_BYTES) break;
      chunks.push(chunk.subarray(0, count));
    }
  } catch (cause) {
    throw fileFault(file, cause as NodeJS.ErrnoException);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  throw new Fault(
    'file-too-large',
    `${named(file)} is larger than ${MAX_PEM_BYTES} bytes`,
    'give a PEM file',
  );
}

function fileFault(file: LabelledFile, cause: NodeJS.ErrnoException): Fault {
  const where = named(file);
  switch (cause.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new Fault('file-missing', `${where} does not exist`, 'check the path', cause);
    case 'EACCES':
    case 'EPERM':
      return new Fault('file-unreadable', `no permission to read ${where}`, 'check owner and mode', cause);
    case 'EISDIR':
      return new Fault('file-unreadable', `${where} is a directory`, 'give the file in it', cause);
    default:
      return new Fault('file-unreadable', `${where} cannot be read: ${reason(cause)}`, '', cause);
  }
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
