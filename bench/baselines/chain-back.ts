import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { ESTABLISHED, readConnectHead } from './connect-head.ts';
import { GoFlags } from './go-flags.ts';
import { pipeBoth } from './pipe-both.ts';

/** The relay at the back of a plain chain (chain-front.ts): answers CONNECT and pipes. Listens where an agent connects. */
const flags = new GoFlags();
const tls = {
  ca: flags.file('ca-cert'),
  cert: flags.file('agent-cert'),
  key: flags.file('agent-key'),
  requestCert: true,
  // The other end shows a server's certificate.
  rejectUnauthorized: false,
};

createServer({ ...tls, allowHalfOpen: true, noDelay: true }, (link) => {
  link.on('error', () => {});
  readConnectHead(link, (host, port) => {
    const target = connect({ host, port, noDelay: true, allowHalfOpen: true });
    target.once('connect', () => {
      link.write(ESTABLISHED);
      pipeBoth(link, target);
    });
    target.once('error', () => link.destroy());
  });
}).listen({ port: flags.port('proxy-server-port'), host: '127.0.0.1', backlog: 511 });
