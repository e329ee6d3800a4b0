// Writes dist/operator.cjs.cache: what V8 compiled of dist/operator.cjs for `agents`, so that bin/ need not compile it at
// each start. V8 refuses a cache of another version or with other flags; then it compiles as ever.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The bytes of a gRPC message in which every field has its default. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** @param bundle path of dist/operator.cjs. Never throws: without the file a start only takes longer. */
export async function writeCodeCache(bundle) {
  const directory = mkdtempSync(join(tmpdir(), 'konnectivity-ts-build-'));
  const server = createServer().on('stream', (stream) => {
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
    stream.end(EMPTY_MESSAGE);
  });
  try {
    await once(server.listen(join(directory, 'admin.sock')), 'listening');
    const writer = fileURLToPath(new URL('write-code-cache.cjs', import.meta.url));
    const args = [writer, bundle, 'agents', '--admin', `unix://${join(directory, 'admin.sock')}`];
    await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit');
  } catch (error) {
    console.warn(`no code cache: ${error.message}`);
  } finally {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
