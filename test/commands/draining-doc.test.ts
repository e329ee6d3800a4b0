import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { OperatorWorld } from '../peers/operator-world.ts';

/** The command lines of the page, in order. */
function commandLines(): string[] {
  const page = readFileSync('docs/DRAINING.md', 'utf8');
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .flatMap((block) => (block[1] as string).split('\n'))
    .filter((line) => line !== '');
}

/** The words of a line of a shell, as far as the page uses one. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|\S+/g)].map((match) => match[1] ?? match[0]);
}

describe('docs/DRAINING.md', () => {
  let world: OperatorWorld;

  before(async () => {
    world = await OperatorWorld.start(['cp-1', 'cp-2'], ['node-a', 'node-b', 'node-c']);
    await world.goAgent('node-g');
  });
  after(() => world.close());

  it('shows command lines of this program alone', () => {
    const lines = commandLines();
    assert.ok(lines.length > 15);
    assert.deepEqual(
      lines.filter((line) => !line.startsWith('konnectivity-ts ')),
      [],
    );
  });

  it('shows command lines that work, one after the other', async () => {
    const [first, second] = world.services;
    const files: Record<string, string> = {
      'cp-1:8091,cp-2:8091': `127.0.0.1:${first?.port},127.0.0.1:${second?.port}`,
      'ops.crt': world.operator.certFile,
      'ops.key': world.operator.keyFile,
      'ca.crt': world.ca.certFile,
    };
    for (const line of commandLines()) {
      const args = words(line)
        .slice(1)
        .map((word) => files[word] ?? word);
      const { code, said } = await world.run(args).ended;
      assert.equal(code, 0, `${line}\n${said}`);
    }
  });
});
