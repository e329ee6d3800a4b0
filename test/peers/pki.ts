import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate, type SelfsignedOptions } from 'selfsigned';

const DAY_MS = 86_400_000;

/** A certificate and its key, as text and as files. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** What a certificate says. By default: valid from yesterday on, usable by clients and servers, no names. */
export interface Request {
  readonly commonName: string;
  readonly organization?: string;
  readonly dns?: readonly string[];
  readonly ips?: readonly string[];
  readonly usage?: 'server' | 'client' | 'both';
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** Certificates for one test file, in a directory of their own. */
export class Pki {
  readonly directory: string;
  #count = 0;

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), 'kts-pki-'));
  }

  /** A CA. Its `certFile` is what goes into CA flags. */
  async authority(commonName: string): Promise<Pair> {
    return await this.#make({ commonName }, undefined, [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ]);
  }

  /** A certificate signed by `ca`. */
  async issue(ca: Pair, request: Request): Promise<Pair> {
    const { dns = [], ips = [], usage = 'both' } = request;
    const names = [
      ...dns.map((value) => ({ type: 2 as const, value })),
      ...ips.map((ip) => ({ type: 7 as const, ip })),
    ];
    return await this.#make(request, ca, [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: usage !== 'client', clientAuth: usage !== 'server' },
      ...(names.length === 0 ? [] : [{ name: 'subjectAltName' as const, altNames: names }]),
    ]);
  }

  /** A server certificate for localhost and both loopback addresses. */
  async server(ca: Pair, more: Partial<Request> = {}): Promise<Pair> {
    const names = { dns: ['localhost'], ips: ['127.0.0.1', '::1'] };
    return await this.issue(ca, { commonName: 'server', ...names, usage: 'server', ...more });
  }

  async client(ca: Pair, more: Partial<Request> = {}): Promise<Pair> {
    return await this.issue(ca, { commonName: 'client', usage: 'client', ...more });
  }

  /** Writes a file of its own into the directory and returns its path. */
  file(name: string, text: string | Uint8Array): string {
    const path = join(this.directory, name);
    writeFileSync(path, text);
    return path;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #make(request: Request, ca: Pair | undefined, extensions: SelfsignedOptions['extensions'] & object) {
    const attributes = [{ name: 'commonName', value: request.commonName }];
    if (request.organization !== undefined) {
      attributes.push({ name: 'organizationName', value: request.organization });
    }
    const made = await generate(attributes, {
      keyType: 'ec',
      algorithm: 'sha256',
      notBeforeDate: request.notBefore ?? new Date(Date.now() - DAY_MS),
      notAfterDate: request.notAfter ?? new Date(Date.now() + DAY_MS),
      extensions,
      ...(ca === undefined ? {} : { ca: { key: ca.key, cert: ca.cert } }),
    });
    const name = `${this.#count++}-${request.commonName.replace(/\W/g, '-')}`;
    return {
      cert: made.cert,
      key: made.private,
      certFile: this.file(`${name}.crt`, made.cert),
      keyFile: this.file(`${name}.key`, made.private),
    };
  }
}

/** Validity that ended yesterday. */
export const expired = {
  notBefore: new Date(Date.now() - 2 * DAY_MS),
  notAfter: new Date(Date.now() - DAY_MS),
};

/** Validity that begins tomorrow. */
export const notYetValid = {
  notBefore: new Date(Date.now() + DAY_MS),
  notAfter: new Date(Date.now() + 2 * DAY_MS),
};
