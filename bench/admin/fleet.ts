import { randomBytes } from 'node:crypto';
import { Client, Metadata } from '@grpc/grpc-js';
import { channelCredentials } from '../../src/proxy/ops/channel-credentials.ts';
import { loadClientTls } from '../../src/proxy/ops/tls-files.ts';
import { clientOptions } from '../../src/proxy/wire/client-options.ts';
import { openPacketStream } from '../../src/proxy/wire/client-stream.ts';
import { blankStatus, PacketType } from '../../src/proxy/wire/packet.ts';
import type { PacketStream } from '../../src/proxy/wire/packet-stream.ts';
import { pong, status } from '../../src/proxy/wire/packets.ts';
import { CONNECT_PATH } from '../../src/proxy/wire/services.ts';

/** Agents of ours, each with a connection of its own, that answer probes and say what they are told to say. */
export class Fleet {
  readonly #port: number;
  readonly #caFile: string;
  readonly #streams: PacketStream[] = [];
  readonly #clients: Client[] = [];
  #changes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(port: number, caFile: string) {
    this.#port = port;
    this.#caFile = caFile;
  }

  /** Connects further ones, up to that many. */
  async grow(count: number): Promise<void> {
    const tls = loadClientTls({ caFile: this.#caFile, labels: { cert: '', key: '', ca: '' } });
    while (this.#streams.length < count) await this.#connect(tls);
  }

  /** From now on so many agents in a second say that their tunnels changed. */
  change(perSecond: number): void {
    clearInterval(this.#timer);
    if (perSecond === 0) return;
    this.#timer = setInterval(() => this.#say(this.#changes++ % this.#streams.length), 1000 / perSecond);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const client of this.#clients) client.close();
  }

  async #connect(tls: ReturnType<typeof loadClientTls>): Promise<void> {
    const client = new Client(`127.0.0.1:${this.#port}`, channelCredentials(tls), clientOptions());
    this.#clients.push(client);
    const number = this.#streams.length;
    const name = `node-${String(number).padStart(5, '0')}`;
    const metadata = new Metadata();
    metadata.set('agentID', name);
    metadata.set('agentIdentifiers', `host=${name}&ipv4=10.${number >> 8}.${number & 255}.1`);
    metadata.set('kts-features', 'ping,status,flow,order');
    metadata.set('kts-instance', randomBytes(8).toString('hex'));
    const { stream } = await openPacketStream(client, CONNECT_PATH, metadata);
    stream.attach({
      onPacket: (packet) => {
        if (packet.type === PacketType.PING) stream.send(pong(packet.amount));
      },
      onDrain: () => {},
      onEnd: () => {},
    });
    this.#streams.push(stream);
    this.#say(number);
  }

  #say(number: number): void {
    const tunnels = this.#changes % 97;
    this.#streams[number]?.send(status({ ...blankStatus(), serverIds: ['bench'], tunnels }));
  }
}
