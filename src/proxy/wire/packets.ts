import { blankPacket } from './decode.ts';
import { blankOrderChange, type WireOrder } from './order.ts';
import { type Packet, PacketType, type Status } from './packet.ts';

/** Makers of the packets that this project sends, so that callers name only what matters. */

export function dialRequest(dialId: bigint, address: string): Packet {
  const packet = blankPacket(PacketType.DIAL_REQ);
  packet.protocol = 'tcp';
  packet.address = address;
  packet.dialId = dialId;
  return packet;
}

export function dialResponse(dialId: bigint, connectId: number): Packet {
  const packet = blankPacket(PacketType.DIAL_RSP);
  packet.dialId = dialId;
  packet.connectId = connectId;
  return packet;
}

export function dialFailure(dialId: bigint, error: string): Packet {
  const packet = blankPacket(PacketType.DIAL_RSP);
  packet.dialId = dialId;
  packet.error = error;
  return packet;
}

export function closeDial(dialId: bigint): Packet {
  const packet = blankPacket(PacketType.DIAL_CLS);
  packet.dialId = dialId;
  return packet;
}

/** @param abnormal only to a peer that announced `half-close`: the destination must not take it for an orderly end */
export function closeRequest(connectId: number, abnormal = false): Packet {
  const packet = blankPacket(PacketType.CLOSE_REQ);
  packet.connectId = connectId;
  packet.amount = abnormal ? 1 : 0;
  return packet;
}

export function closeResponse(connectId: number, error = ''): Packet {
  const packet = blankPacket(PacketType.CLOSE_RSP);
  packet.connectId = connectId;
  packet.error = error;
  return packet;
}

export function drain(): Packet {
  return blankPacket(PacketType.DRAIN);
}

export function window(connectId: number, bytes: number): Packet {
  const packet = blankPacket(PacketType.WINDOW);
  packet.connectId = connectId;
  packet.amount = bytes;
  return packet;
}

export function halfClose(connectId: number): Packet {
  const packet = blankPacket(PacketType.HALF_CLOSE);
  packet.connectId = connectId;
  return packet;
}

export function ping(number: number): Packet {
  const packet = blankPacket(PacketType.PING);
  packet.amount = number;
  return packet;
}

export function pong(number: number): Packet {
  const packet = blankPacket(PacketType.PONG);
  packet.amount = number;
  return packet;
}

export function status(value: Status): Packet {
  const packet = blankPacket(PacketType.STATUS);
  packet.status = value;
  return packet;
}

/** Places or updates an order. Only to an agent with `order`; its ID must pass isOrderId. */
export function placeOrder(order: WireOrder): Packet {
  const packet = blankPacket(PacketType.ORDER);
  packet.order = { ...blankOrderChange(), order };
  return packet;
}

/** Ends orders, in force or not: at most MOST_ENDED_ORDERS in one packet. Only to an agent with `order`. */
export function endOrders(ended: readonly string[], endedBy: string, endedByClaimed: boolean): Packet {
  const packet = blankPacket(PacketType.ORDER);
  packet.order = { order: null, ended: [...ended], endedBy, endedByClaimed };
  return packet;
}
