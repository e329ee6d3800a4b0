import { createServer } from 'node:net';
import { connect } from 'node:tls';
import { GoFlags } from './go-flags.ts';
import { pipeBoth } from './pipe-both.ts';

/**
 * The relay in front of a plain chain (client, Unix socket, this, TLS, chain-back, TCP, destination): each tunnel has a
 * TLS connection of its own. Nothing is parsed here, and nothing multiplexed: what Node can do with two relays.
 */
const flags = new GoFlags();
const tls = {
  host: '127.0.0.1',
  port: flags.port('agent-port'),
  ca: flags.file('cluster-ca-cert'),
  cert: flags.file('cluster-cert'),
  key: flags.file('cluster-key'),
  // The other end shows an agent's certificate, which is none for a server.
  rejectUnauthorized: false,
};

createServer({ allowHalfOpen: true }, (client) => {
  const link = connect(tls);
  link.setNoDelay(true);
  pipeBoth(client, link);
}).listen({ path: flags.text('uds-name'), backlog: 511 });
