import { createServer, type Socket } from 'node:net';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { ESTABLISHED, readConnectHead } from './connect-head.ts';
import { GoFlags } from './go-flags.ts';
import { CLOSE_REQ, CONNECT_METHOD, DATA, DIAL_REQ, DIAL_RSP, type NaivePacket } from './packets.ts';

/**
 * A proxy server as one writes it in an afternoon: grpc-js' public API, protobufjs, one packet a read, the kernel's and
 * Node's defaults. Back-pressure stops all tunnels of the stream; nothing is bounded.
 */
const flags = new GoFlags();
const dials = new Map<number, Socket>();
const tunnels = new Map<number, Socket>();
let agent: ServerDuplexStream<NaivePacket, NaivePacket> | undefined;
let nextDial = 1;

function onPacket({ type, dialResponse, data, closeRequest }: NaivePacket): void {
  if (type === DATA && data) tunnels.get(data.connectID)?.write(data.data);
  else if (type === DIAL_RSP && dialResponse) opened(dialResponse.random, dialResponse.connectID);
  else if (type === CLOSE_REQ && closeRequest) tunnels.get(closeRequest.connectID)?.end();
}

function opened(dial: number, connectID: number): void {
  const client = dials.get(dial);
  dials.delete(dial);
  if (client === undefined || agent === undefined) return;
  const link = agent;
  tunnels.set(connectID, client);
  client.write(ESTABLISHED);
  client.on('data', (bytes) => {
    if (link.write({ type: DATA, data: { connectID, data: bytes } })) return;
    client.pause();
    link.once('drain', () => client.resume());
  });
  client.on('close', () => {
    tunnels.delete(connectID);
    link.write({ type: CLOSE_REQ, closeRequest: { connectID } });
  });
}

const server = new Server();
server.addService({ Connect: CONNECT_METHOD }, {
  Connect: (call: ServerDuplexStream<NaivePacket, NaivePacket>) => {
    agent = call;
    call.setMaxListeners(0);
    call.on('data', onPacket);
    call.on('error', () => process.exit(1));
  },
} as never);
const pair = { cert_chain: flags.file('cluster-cert'), private_key: flags.file('cluster-key') };
const credentials = ServerCredentials.createSsl(flags.file('cluster-ca-cert'), [pair], true);
server.bindAsync(`127.0.0.1:${flags.port('agent-port')}`, credentials, (error) => {
  if (error) throw error;
});

createServer((client) => {
  client.on('error', () => {});
  readConnectHead(client, (host, port) => {
    if (agent === undefined) {
      client.destroy();
      return;
    }
    const random = nextDial++;
    dials.set(random, client);
    agent.write({ type: DIAL_REQ, dialRequest: { protocol: 'tcp', address: `${host}:${port}`, random } });
  });
}).listen({ path: flags.text('uds-name'), backlog: 511 });
