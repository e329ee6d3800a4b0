import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Heap, markSmallHeapsWhole, WHOLE_MARKING_BYTES } from '../../src/proxy/ops/whole-marking.ts';

function heapOf(usedBytes: number): Heap & { readonly flags: string[]; used: number } {
  const flags: string[] = [];
  return {
    flags,
    used: usedBytes,
    usedBytes() {
      return this.used;
    },
    setFlag: (flag) => flags.push(flag),
  };
}

test('a small heap is marked in one go, a large one in steps, and a flag is set when that changes only', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const heap = heapOf(1);
  const stop = markSmallHeapsWhole([], heap);
  t.mock.timers.tick(30_000);
  assert.deepEqual(heap.flags, ['--no-incremental-marking']);
  heap.used = WHOLE_MARKING_BYTES;
  t.mock.timers.tick(30_000);
  assert.deepEqual(heap.flags.slice(1), ['--incremental-marking']);
  heap.used = 1;
  t.mock.timers.tick(30_000);
  assert.deepEqual(heap.flags.slice(2), ['--no-incremental-marking']);
  stop();
});

test('what the operator says about marking is left alone', () => {
  for (const argv of [['--incremental-marking'], ['--no-incremental-marking'], ['--noincremental_marking']]) {
    const heap = heapOf(1);
    markSmallHeapsWhole(argv, heap)();
    assert.deepEqual(heap.flags, []);
  }
});

test('V8 takes both flags while it runs, and collects with either', async () => {
  const module = new URL('../../src/proxy/ops/whole-marking.ts', import.meta.url).href;
  const script = `
    const { markSmallHeapsWhole } = await import(${JSON.stringify(module)});
    const v8 = await import('node:v8');
    for (const usedBytes of [0, 1e12, 0]) {
      markSmallHeapsWhole([], { usedBytes: () => usedBytes, setFlag: v8.setFlagsFromString })();
      let kept = [];
      for (let i = 0; i < 3000; i++) kept[i % 50] = Buffer.allocUnsafe(65536);
      gc();
    }
    console.log('collected');`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    '--expose-gc',
    '--input-type=module',
    '--eval',
    script,
  ]);
  assert.equal(stdout, 'collected\n');
  assert.equal(stderr, '');
});
