import { it } from 'node:test';
import { dialWithoutAgent } from '../peers/refused-dials.ts';
import { TestServer } from '../peers/test-server.ts';

// npm run test:faults makes 10,000 of each.
const REQUESTS = 1_000;

for (const mode of ['http-connect', 'grpc'] as const) {
  it(`${REQUESTS} dials by ${mode} without an agent are each refused at once and leave nothing`, async () => {
    const server = await TestServer.start();
    try {
      await dialWithoutAgent(server, mode, REQUESTS);
    } finally {
      await server.close();
    }
  });
}
