import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { manCommands, manPage, renewManPages, withOptions } from '../scripts/man-options.ts';
import { BINDINGS } from '../src/tui/keys.ts';

describe('the man pages', () => {
  it('are there for each command', () => {
    const main = readFileSync('src/main.ts', 'utf8');
    const commands = [...main.matchAll(/\.command\('([a-z]+)'/g)].map((match) => match[1] as string);
    assert.ok(commands.length >= manCommands.length);
    for (const command of commands)
      assert.match(manPage(command), new RegExp(`\\.B konnectivity\\\\-ts ${command}`));
  });

  it('are installed, each of them', () => {
    const { man } = JSON.parse(readFileSync('package.json', 'utf8')) as { man: string[] };
    assert.deepEqual(
      [...man].sort(),
      readdirSync('man')
        .map((name) => `man/${name}`)
        .sort(),
    );
  });

  it('have the options that the commands have, and no others', () => {
    assert.deepEqual(renewManPages(true), []);
  });

  it('are noticed when an option is missing', () => {
    const page = manPage('drain').replace('.B \\-\\-timeout <duration>', '.B \\-\\-time\\-out <duration>');
    assert.notEqual(withOptions('drain', page), page);
  });

  it('of top names the keys that its footer has', () => {
    const section = manPage('top').split('.SH KEYS\n')[1]?.split('.SH ')[0] ?? '';
    const named = new Set(
      [...section.matchAll(/^\.BR? (.*)$/gm)].flatMap((match) => (match[1] ?? '').split(/", "| "|" | /)),
    );
    const keys = BINDINGS.filter(({ label, demo }) => label !== undefined && demo === undefined);
    for (const key of keys.flatMap(({ shown }) => shown.split(' '))) assert.ok(named.has(key), key);
  });

  for (const command of manCommands.filter(
    (name) => name !== 'serve' && name !== 'agent' && name !== 'demo',
  )) {
    it(`of ${command} names the exit codes that its help names`, () => {
      const source = readFileSync(`src/commands/${command}-command.ts`, 'utf8');
      const help = /Exit codes: ([^`]*?)\.\n/.exec(source)?.[1] ?? '';
      const section = manPage(command).split('.SH EXIT STATUS\n')[1]?.split('.SH ')[0] ?? '';
      assert.deepEqual(
        [...section.matchAll(/^\.B (\d+)$/gm)].map((match) => match[1]),
        [...help.matchAll(/(?:^|;\s)(\d+)\b/g)].map((match) => match[1]),
      );
    });
  }
});
