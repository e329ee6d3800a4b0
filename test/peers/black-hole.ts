import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface BlackHole {
  readonly port: number;
  close(): Promise<void>;
}

const BACKLOG = 1;

// Listens, says its port and never runs its event loop again, so that nothing is ever accepted.
const CHILD = `
const { writeSync } = require('node:fs');
const server = require('node:net').createServer();
server.listen({ host: process.argv[1], port: 0, backlog: ${BACKLOG} }, () => {
  writeSync(1, String(server.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 110_000);
  process.exit();
});`;

/** An address of this machine on which connects hang, without root: a listener whose queue is full. */
export async function openBlackHole(host: string): Promise<BlackHole> {
  const child: ChildProcess = spawn(process.execPath, ['-e', CHILD, host], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout!, 'data');
  const port = Number(String(said));
  const fillers: Socket[] = [];
  // The kernel lets one more in than the backlog says.
  for (let i = 0; i < BACKLOG + 1; i++) {
    const filler = connect({ host, port });
    filler.on('error', () => {});
    fillers.push(filler);
    await once(filler, 'connect');
  }
  return {
    port,
    close: async () => {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
