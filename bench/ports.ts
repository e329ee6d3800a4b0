import { createServer } from 'node:net';

// Below the kernel's ephemeral range: no outgoing connection can take one of these between the test and its use.
// And below the ports of the demo and of tests, which may run beside it.
const FIRST_PORT = 10_000;
const LAST_PORT = 19_999;
const ATTEMPTS = 200;

/** A port, drawn at random, on which nobody listens on any of the hosts. */
export async function freePort(hosts: readonly string[] = ['127.0.0.1']): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
    const free = await Promise.all(hosts.map((host) => isFree(host, port)));
    if (free.every(Boolean)) return port;
  }
  throw new Error(`no free port found between ${FIRST_PORT} and ${LAST_PORT}`);
}

async function isFree(host: string, port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
