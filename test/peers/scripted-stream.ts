import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import type { PacketStream, StreamEnd } from '../../src/proxy/wire/packet-stream.ts';
import { window } from '../../src/proxy/wire/packets.ts';
import { deferred } from './deferred.ts';
import { Inbox } from './inbox.ts';

/** One end of a packet stream in a test's hand: everything that arrives is kept, and can be waited for. */
export class ScriptedStream {
  readonly stream: PacketStream;
  readonly packets = new Inbox<Packet>();
  readonly ended: Promise<StreamEnd>;
  /** Called for each packet before it is kept; for peers that answer by rule. */
  onPacket: (packet: Packet) => void = () => {};
  /** Grants for the link what arrives, as peers with `flow` do. */
  grantsLink = false;

  constructor(stream: PacketStream) {
    this.stream = stream;
    const end = deferred<StreamEnd>();
    this.ended = end.promise;
    stream.attach({
      onPacket: (packet) => {
        if (this.grantsLink && packet.type === PacketType.DATA) this.send(window(0, packet.data.length));
        this.onPacket(packet);
        this.packets.push(packet);
      },
      onDrain: () => {},
      onEnd: (reason) => end.resolve(reason),
    });
  }

  send(packet: Packet): boolean {
    return this.stream.send(packet);
  }

  /** The next packet of a type. */
  next(type: number): Promise<Packet> {
    return this.packets.next((packet) => packet.type === type);
  }

  /** Payload of all DATA packets so far. */
  get received(): Buffer {
    return Buffer.concat(this.packets.all.filter((p) => p.type === PacketType.DATA).map((p) => p.data));
  }
}
