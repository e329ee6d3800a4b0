import { type Packet, PacketType } from '../../src/proxy/wire/packet.ts';
import { dialFailure, dialResponse, pong } from '../../src/proxy/wire/packets.ts';
import type { ScriptedStream } from './scripted-stream.ts';

/** Makes a scripted agent answer every dial and probe, with tunnels or with an error. */
export function answering(agent: ScriptedStream, error = ''): void {
  let last = 0;
  agent.onPacket = (packet: Packet) => {
    if (packet.type === PacketType.PING) agent.send(pong(packet.amount));
    if (packet.type !== PacketType.DIAL_REQ) return;
    agent.send(error === '' ? dialResponse(packet.dialId, ++last) : dialFailure(packet.dialId, error));
  };
}
