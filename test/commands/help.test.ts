import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const MOST_COLUMNS = 100;

async function run(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    return {
      code: 0,
      ...(await promisify(execFile)(process.execPath, ['bin/konnectivity-ts.js', ...words])),
    };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe('help', async () => {
  const overview = (await run('help')).stdout;
  const commands = [...overview.matchAll(/^ {2}([a-z]+) \[(?:options|flags)/gm)].map(
    (match) => match[1] ?? '',
  );

  it('lists every command with one line', () => {
    assert.deepEqual(
      commands,
      'serve agent top agents tunnels drains events select why drain undrain close dial demo'.split(' '),
    );
    for (const command of commands)
      assert.match(overview, new RegExp(`^ {2}${command} .* {2}\\S.*\\n(?! {4})`, 'm'));
  });

  for (const command of commands.filter((name) => name !== 'serve' && name !== 'agent')) {
    it(`of ${command} fits ${MOST_COLUMNS} columns, and tells exit codes and examples`, async () => {
      const { stdout } = await run(command, '--help');
      assert.deepEqual(
        stdout.split('\n').filter((line) => line.length > MOST_COLUMNS),
        [],
      );
      assert.match(stdout, /^Exit codes: 0 /m);
      assert.match(stdout, /^Examples:\n {2,}\S/m);
      const headings = [...stdout.matchAll(/^[A-Z].*?:/gm)].map(([heading]) => heading.replace(/s?:$/, ''));
      assert.deepEqual(headings, [...new Set(headings)]);
    });
  }

  it('ends in silence when nobody reads it any more', async () => {
    const child = spawn(process.execPath, ['bin/konnectivity-ts.js', 'agents', '--help']);
    child.stdout.destroy();
    let said = '';
    for await (const chunk of child.stderr) said += String(chunk);
    assert.equal(said, '');
  });

  it('an address of --admin that is none is a usage error', async () => {
    const { code, stderr } = await run('top', '--admin', 'nowhere');
    assert.equal(code, 2);
    assert.match(stderr, /^konnectivity-ts: "nowhere" is no address of an admin service; [^\n]*\n$/);
  });

  it('suggests the nearest command for one that does not exist', async () => {
    const { code, stderr } = await run('drian');
    assert.equal(code, 2);
    assert.equal(
      stderr,
      "konnectivity-ts: unknown command 'drian' (Did you mean drain?); see konnectivity-ts --help\n",
    );
  });

  for (const [words, complaint] of [
    [['drain'], "missing required argument 'agent'; see konnectivity-ts drain --help"],
    [['agents', '-o', 'yaml'], '.* Allowed choices are json, wide, name; see konnectivity-ts agents --help'],
    [
      ['drain', 'node-a', '--yess'],
      ".*'--yess' \\(Did you mean --yes\\?\\); see konnectivity-ts drain --help",
    ],
    [['top', 'now'], 'too many arguments .* but got 1; see konnectivity-ts top --help'],
  ] as const) {
    it(`says in one line why it refuses ${words.join(' ')}, and what to type`, async () => {
      const { code, stderr } = await run(...words);
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`^konnectivity-ts: ${complaint}\n$`));
    });
  }
});
