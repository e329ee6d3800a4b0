import { connect, type Socket } from 'node:net';
import { Client, type ClientDuplexStream, credentials } from '@grpc/grpc-js';
import { GoFlags } from './go-flags.ts';
import { CLOSE_REQ, CONNECT_METHOD, DATA, DIAL_REQ, DIAL_RSP, type NaivePacket } from './packets.ts';

/** The agent of naive-server.ts. Tries until the server is there. */
const flags = new GoFlags();
const RETRY_MS = 100;
const tunnels = new Map<number, Socket>();
const { path, requestSerialize, responseDeserialize } = CONNECT_METHOD;
let nextId = 1;

function join(): void {
  const tls = credentials.createSsl(flags.file('ca-cert'), flags.file('agent-key'), flags.file('agent-cert'));
  const client = new Client(`127.0.0.1:${flags.port('proxy-server-port')}`, tls);
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  call.setMaxListeners(0);
  call.on('data', (packet: NaivePacket) => onPacket(call, packet));
  call.on('error', () => {
    client.close();
    setTimeout(join, RETRY_MS);
  });
}

type Link = ClientDuplexStream<NaivePacket, NaivePacket>;

function onPacket(link: Link, { type, dialRequest, data, closeRequest }: NaivePacket): void {
  if (type === DATA && data) tunnels.get(data.connectID)?.write(data.data);
  else if (type === DIAL_REQ && dialRequest) dial(link, dialRequest.address, dialRequest.random);
  else if (type === CLOSE_REQ && closeRequest) tunnels.get(closeRequest.connectID)?.end();
}

function dial(link: Link, address: string, random: number): void {
  const [host = '', port] = address.split(':');
  const connectID = nextId++;
  const target = connect({ host, port: Number(port), noDelay: true });
  target.on('error', () => {});
  target.once('connect', () => {
    tunnels.set(connectID, target);
    link.write({ type: DIAL_RSP, dialResponse: { error: '', connectID, random } });
  });
  target.on('data', (bytes) => {
    if (link.write({ type: DATA, data: { connectID, data: bytes } })) return;
    target.pause();
    link.once('drain', () => target.resume());
  });
  target.on('close', () => {
    tunnels.delete(connectID);
    link.write({ type: CLOSE_REQ, closeRequest: { connectID } });
  });
}

join();
