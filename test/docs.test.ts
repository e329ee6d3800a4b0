import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { faultCodes } from '../src/proxy/ops/fault-code.ts';
import { eventTypes } from '../src/proxy/server/event-log.ts';
import { closeReasons } from '../src/proxy/wire/close-reason.ts';

const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n');

it('docs/CLOSE-REASONS.md lists exactly the close reasons of the source', () => {
  const documented = lines('docs/CLOSE-REASONS.md').flatMap(
    (line) => /^\| `([a-z-]+)` \|/.exec(line)?.[1] ?? [],
  );
  assert.deepEqual(documented.sort(), [...closeReasons].sort());
});

it('docs/ERRORS.md lists exactly the codes of the source, each once and with a meaning', () => {
  const rows = lines('docs/ERRORS.md').flatMap((line) => {
    const row = /^\| `([a-z0-9-]+)` \| ([^|]+) \|/.exec(line);
    return row === null ? [] : [row[1] as string];
  });
  assert.deepEqual(rows.sort(), [...faultCodes].sort());
});

it('every code of an error is used in the source', () => {
  const sources = readdirSync('src', { recursive: true })
    .map((name) => `src/${String(name)}`)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('fault-code.ts'))
    .map((name) => readFileSync(name, 'utf8'))
    .join('\n');
  assert.deepEqual(
    faultCodes.filter((code) => !sources.includes(`'${code}'`)),
    [],
  );
});

it('every file that a README or docs page links to exists', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'docs/ADMIN.md',
    'docs/ARCHITECTURE.md',
    'docs/COMPATIBILITY.md',
    'docs/ERRORS.md',
    'docs/EXTENSIONS.md',
  ];
  for (const page of pages) {
    const folder = page.startsWith('docs/') ? 'docs/' : '';
    for (const [, target] of readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      assert.doesNotThrow(
        () => readFileSync(new URL(`../${folder}${target}`, import.meta.url)),
        `${page}: ${target}`,
      );
    }
  }
});

it('the README promises the command that CI runs', () => {
  const command = 'npm ci && npm test';
  assert.ok(readFileSync('README.md', 'utf8').includes(command));
  assert.ok(lines('.ci/run').includes(command));
});

it('docs/ADMIN.md lists exactly the event types of the source', () => {
  const section = readFileSync('docs/ADMIN.md', 'utf8').split('### Events')[1]?.split('\n## ')[0] ?? '';
  const documented = section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) =>
      [...(line.split('|')[1] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, type]) => type as string),
    );
  assert.deepEqual(documented.sort(), [...eventTypes].sort());
});
