import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Cancel, raceCancels } from '../peers/cancel-races.ts';
import { noSocketsLeft, openSockets } from '../peers/sockets-left.ts';
import { startTunnel } from '../peers/tunnel.ts';

// npm run test:faults runs 10,000 of each.
const RACES = 150;

const cancels: Record<Cancel, string> = {
  'hang-up': 'a CONNECT client that hangs up',
  DIAL_CLS: 'a gRPC client that sends DIAL_CLS',
  reset: 'a gRPC client that resets its stream',
};

for (const publicStreams of [false, true]) {
  const streams = publicStreams ? 'public' : 'fast';
  for (const [cancel, who] of Object.entries(cancels)) {
    it(`${who} in the instant of the answer leaves nothing (${streams} streams)`, async () => {
      const before = openSockets();
      const tunnel = await startTunnel({ server: { publicStreams }, agents: { a: { publicStreams } } });
      try {
        const { cancelled, answered } = await raceCancels(tunnel, cancel as Cancel, RACES);
        // Neither side always wins, or these are no races.
        assert.ok(cancelled > 0 && answered > 0, `${cancelled} were cancelled, ${answered} answered`);
      } finally {
        await tunnel.close();
      }
      await noSocketsLeft(before);
    });
  }
}
