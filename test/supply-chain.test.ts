import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bom } from '../scripts/cyclonedx.ts';
import { isAllowed, licenceProblems } from '../scripts/licence-rules.ts';
import { lockedPackages } from '../scripts/locked-packages.ts';
import { bundleMetafile, loadedPackages } from './peers/bundle-packages.ts';

const packages = lockedPackages('.');

describe('the packages that a command loads', async () => {
  const metafile = await bundleMetafile();
  const listed = [...readFileSync('docs/SUPPLY-CHAIN.md', 'utf8').matchAll(/^\| `([^`]+)` \|/gm)].map(
    ([, name]) => name,
  );

  for (const command of ['serve', 'agent']) {
    const { always, later, outside } = loadedPackages(metafile, `src/commands/${command}.ts`);

    it(`${command} loads the packages of docs/SUPPLY-CHAIN.md and no others`, () => {
      assert.deepEqual(always, listed);
    });

    it(`${command} loads no terminal interface, not even later`, () => {
      const unwanted = [...always, ...later].filter((name) =>
        /^(ink|react|react-reconciler|yoga-layout)$/.test(name),
      );
      assert.deepEqual(unwanted, []);
    });

    it(`${command} loads nothing from outside of the bundle`, () => {
      assert.deepEqual(outside, []);
    });
  }
});

describe('top without a terminal', async () => {
  it('loads no terminal interface for its picture', async () => {
    const { always } = loadedPackages(await bundleMetafile(), 'src/tui/plain-picture.ts');
    assert.deepEqual(
      always.filter((name) => /^(ink|react|yoga-layout)$/.test(name)),
      [],
    );
  });
});

describe('the bill of materials', () => {
  const { components, dependencies, metadata } = bom(packages);

  it('names every package that npm installs without development dependencies', () => {
    const npm = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { encoding: 'utf8' });
    const root = process.cwd();
    const paths = npm
      .trim()
      .split('\n')
      .map((path) => path.slice(root.length + 1));
    assert.deepEqual(packages.map(({ path }) => path).sort(), paths.sort());
    assert.equal(components.length, packages.length - 1);
  });

  it('has a hash and a licence of each', () => {
    for (const { hashes, licenses, purl } of components) {
      assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{128}$/, purl);
      assert.equal(licenses.length, 1);
    }
  });

  it('refers only to what it names', () => {
    const references = new Set([metadata.component, ...components].map((one) => one['bom-ref']));
    assert.equal(references.size, packages.length);
    for (const { ref, dependsOn } of dependencies) {
      assert.ok(
        [ref, ...dependsOn].every((one) => references.has(one)),
        ref,
      );
    }
  });

  it('is reached from the project in full', () => {
    const byReference = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const visit = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      byReference.get(ref)?.forEach(visit);
    };
    visit(metadata.component['bom-ref']);
    assert.equal(reached.size, packages.length);
  });
});

describe('licences', () => {
  it('are allowed for every package of an installation', () => {
    assert.deepEqual(licenceProblems(packages), []);
  });

  for (const [expression, allowed] of [
    ['MIT', true],
    ['GPL-3.0-only', false],
    ['', false],
    ['SEE LICENSE IN LICENSE.txt', false],
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND GPL-3.0-only', false],
    ['(MIT OR GPL-2.0) AND (Apache-2.0 OR GPL-2.0)', true],
    ['MIT OR Apache-2.0 AND GPL-2.0', true],
    ['Apache-2.0 WITH LLVM-exception', false],
    ['(MIT', false],
    ['UNLICENSED', false],
  ] as const) {
    it(`${allowed ? 'allow' : 'refuse'} "${expression}"`, () => assert.equal(isAllowed(expression), allowed));
  }
});

it('the README tells how many packages npm installs', () => {
  const count = packages.length - 1;
  assert.ok(readFileSync('README.md', 'utf8').includes(`${count} packages`), `there are ${count}`);
});
