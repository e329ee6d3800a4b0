import assert from 'node:assert/strict';
import { it } from 'node:test';
import { memoryWarnings } from '../../src/commands/flags/memory-warning.ts';
import { parseAgent } from '../../src/commands/flags/validate-agent.ts';
import { parseServe } from '../../src/commands/flags/validate-serve.ts';
import { pureEnvironment } from './flag-setup.ts';

const MIB = 1024 * 1024;

it('enough memory is no warning', () => {
  assert.deepEqual(memoryWarnings(256 * MIB, 128 * MIB, 256), []);
});

it('too small a limit is said once, with what to give', () => {
  assert.deepEqual(memoryWarnings(100 * MIB, 60 * MIB, 128), [
    'the memory limit is 100 MiB: give at least 128 MiB, since Node.js needs more than Go',
  ]);
});

it('a heap that may outgrow the memory is said with the option that prevents it', () => {
  assert.deepEqual(memoryWarnings(250 * MIB, 259 * MIB, 128), [
    'the heap may grow to 259 MiB, but the memory limit is 250 MiB: set NODE_OPTIONS=--max-old-space-size=150',
  ]);
});

it('serve and agent warn at their own limits', () => {
  const environment = pureEnvironment({ memoryBytes: 200 * MIB, heapLimitBytes: 100 * MIB });
  const serve = parseServe(
    [
      '--uds-name=/k.sock',
      '--server-port=0',
      '--cluster-cert=/c',
      '--cluster-key=/k',
      '--cluster-ca-cert=/a',
    ],
    environment,
  );
  const agent = parseAgent(['--ca-cert=/a'], environment);
  assert.ok(serve.kind === 'run' && agent.kind === 'run');
  assert.equal(serve.warnings.length, 1);
  assert.deepEqual(agent.warnings, []);
});
