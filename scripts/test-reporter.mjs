// The runner's TAP output, with every failed test named once more before the closing lines: who reads only the end
// of a long log (or gets no more of it) must see what failed.
import { tap } from 'node:test/reporters';

export default async function* report(source) {
  const failed = [];
  async function* watched() {
    for await (const event of source) {
      if (event.type === 'test:fail') failed.push(...failedLines(event.data));
      yield event;
    }
  }
  for await (const chunk of tap(watched())) {
    if (/^1\.\.\d+\n/.test(chunk)) yield* failed;
    yield chunk;
  }
}

/** Said of a test alone: a suite or a file fails only because of what is in it, and would be listed a second time. */
function* failedLines({ name, file, line, details }) {
  const { error } = details;
  if (error?.failureType === 'subtestsFailed') return;
  const reason = String(error?.cause?.message ?? error?.message ?? error).split('\n')[0];
  yield `# failed: ${name} (${file ?? ''}:${line ?? ''}, ${error?.failureType}): ${reason}\n`;
}
