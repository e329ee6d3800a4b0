import type { LockedPackage } from './locked-packages.ts';

/** A CycloneDX 1.6 document on packages of which the first is what it is about. It holds no time and no random number. */
export function bom(packages: readonly LockedPackage[]) {
  const [main, ...others] = packages;
  if (main === undefined) throw new Error('a bill of materials needs a package that it is about');
  const byPath = new Map(packages.map((one) => [one.path, one]));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component(main, 'application') },
    components: others.map((one) => component(one, 'library')),
    dependencies: packages.map((one) => ({
      ref: reference(one),
      dependsOn: one.requires.flatMap((path) => {
        const required = byPath.get(path);
        return required === undefined ? [] : [reference(required)];
      }),
    })),
  };
}

/** The path makes it unique: one version may be installed in several places. */
function reference({ name, version, path }: LockedPackage): string {
  return path === '' ? `${name}@${version}` : `${path}@${version}`;
}

function component(one: LockedPackage, type: 'application' | 'library') {
  const { name, version, licence, integrity } = one;
  const [group, bare] = name.startsWith('@') ? (name.split('/') as [string, string]) : [undefined, name];
  const [algorithm, digest] = integrity.split('-');
  return {
    type,
    'bom-ref': reference(one),
    ...(group === undefined ? {} : { group }),
    name: bare,
    version,
    purl: `pkg:npm/${group === undefined ? '' : `${encodeURIComponent(group)}/`}${bare}@${version}`,
    licenses: [/[ (]/.test(licence) ? { expression: licence } : { license: { id: licence } }],
    ...(algorithm === 'sha512' && digest !== undefined
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
      : {}),
  };
}
