import { createServer, type Socket } from 'node:net';
import { decodeFrame } from '../src/proxy/wire/decode.ts';
import { Deframer } from '../src/proxy/wire/deframer.ts';
import { encodeDataFrame, encodeFrame } from '../src/proxy/wire/encode.ts';
import { type Packet, PacketType } from '../src/proxy/wire/packet.ts';
import { closeResponse, dialResponse } from '../src/proxy/wire/packets.ts';
import {
  DEFAULT_WINDOW_BYTES,
  Flag,
  FrameType,
  frame,
  readSettings,
  SETTINGS_ACK,
  Setting,
  settings,
  windowUpdate,
} from './load/http2-frames.ts';
import { Http2Reader } from './load/http2-reader.ts';
import { Http2SendWindows } from './load/http2-send-windows.ts';
import type { DestinationMode, DestinationPorts } from './messages.ts';

const PREFACE_BYTES = 24;
const WINDOW_BYTES = 16 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const CONNECT_ID = 1;

const OPENING = Buffer.concat([
  settings({ [Setting.INITIAL_WINDOW_SIZE]: WINDOW_BYTES }),
  windowUpdate(0, WINDOW_BYTES - DEFAULT_WINDOW_BYTES),
]);
/** HPACK: `:status 200` stands in the static table; the trailers may be empty, as nobody here reads them. */
const RESPONSE_HEADERS = Buffer.from([0x88]);
const TRAILERS = Buffer.alloc(0);
const BLOCK = encodeDataFrame(CONNECT_ID, Buffer.alloc(32 * 1024, 'k'));

/**
 * A `ProxyService` that is its own destination: what the load generator can do over gRPC when nothing stands between
 * the two. Answers calls as the generator makes them.
 */
export async function listenStub(
  socketPath: string,
  ports: DestinationPorts,
  onReceived: (bytes: number) => void,
  onConnection: (socket: Socket) => void,
): Promise<void> {
  const server = createServer((socket) => {
    onConnection(socket);
    answer(socket, ports, onReceived);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
}

function answer(socket: Socket, ports: DestinationPorts, onReceived: (bytes: number) => void): void {
  const windows = new Http2SendWindows(socket);
  const calls = new Map<number, Deframer>();
  const ungranted = new Map<number, number>([[0, 0]]);
  const count = (streamId: number, bytes: number): void => {
    ungranted.set(streamId, (ungranted.get(streamId) ?? 0) + bytes);
  };
  const grant = (streamId: number): void => {
    const bytes = ungranted.get(streamId) ?? 0;
    if (bytes < WINDOW_BYTES / 4) return;
    socket.write(windowUpdate(streamId, bytes));
    ungranted.set(streamId, 0);
  };
  const end = (streamId: number): void => {
    if (!calls.delete(streamId)) return;
    windows.close(streamId);
    ungranted.delete(streamId);
    socket.write(frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, streamId, TRAILERS));
  };
  const reader = new Http2Reader({
    onDataPart: (bytes, streamId) => {
      count(0, bytes.length);
      count(streamId, bytes.length);
      calls.get(streamId)?.push(bytes);
    },
    onDataEnd: (flags, streamId) => {
      grant(0);
      grant(streamId);
      if ((flags & Flag.END_STREAM) !== 0) end(streamId);
    },
    onFrame: (type, flags, streamId, payload) => {
      if (type === FrameType.HEADERS) {
        socket.write(frame(FrameType.HEADERS, Flag.END_HEADERS, streamId, RESPONSE_HEADERS));
        calls.set(streamId, openCall(windows, streamId, ports, onReceived));
      } else if (type === FrameType.WINDOW_UPDATE) windows.grant(streamId, payload.readUInt32BE(0));
      else if (type === FrameType.GOAWAY) {
        for (const open of [...calls.keys()]) end(open);
        socket.end();
      } else if (type === FrameType.SETTINGS && (flags & Flag.ACK) === 0) {
        socket.write(SETTINGS_ACK);
        windows.configure(readSettings(payload));
      }
    },
  });
  let preface = PREFACE_BYTES;
  socket.write(OPENING);
  socket.on('data', (chunk) => {
    const skipped = Math.min(preface, chunk.length);
    preface -= skipped;
    if (skipped < chunk.length) reader.push(chunk.subarray(skipped));
  });
}

/** @returns what takes the call's request */
function openCall(
  windows: Http2SendWindows,
  streamId: number,
  ports: DestinationPorts,
  onReceived: (bytes: number) => void,
): Deframer {
  let mode: DestinationMode = 'sink';
  let supplying = false;
  const supply = (): void => {
    while (supplying && sender.send(BLOCK));
  };
  const sender = windows.open(streamId, supply);
  const onPacket = (packet: Packet): void => {
    switch (packet.type) {
      case PacketType.DIAL_REQ: {
        const port = Number(packet.address.slice(packet.address.lastIndexOf(':') + 1));
        mode = port === ports.echo ? 'echo' : port === ports.source ? 'source' : 'sink';
        sender.send(encodeFrame(dialResponse(packet.dialId, CONNECT_ID)));
        break;
      }
      case PacketType.DATA:
        onReceived(packet.data.length);
        if (mode === 'echo') sender.send(encodeDataFrame(CONNECT_ID, packet.data));
        else if (mode === 'source') {
          supplying = true;
          supply();
        }
        break;
      case PacketType.CLOSE_REQ:
        supplying = false;
        sender.send(encodeFrame(closeResponse(CONNECT_ID)));
        break;
    }
  };
  return new Deframer(MAX_MESSAGE_BYTES, (message) => {
    onPacket(decodeFrame(message));
    return true;
  });
}
