import { MessageReader } from './message-reader.ts';
import type { Field, MessageTable } from './table.ts';

type Decoded = Record<string, unknown>;

const WIRE_TYPES: Readonly<Record<Field['type'], number>> = {
  bool: 0,
  int32: 0,
  int64: 0,
  'int64-text': 0,
  double: 1,
  string: 2,
  time: 2,
  message: 2,
};

/**
 * Decodes a protobuf message into an object that has every field: zero values where nothing came, except for messages,
 * times and what is `optional`, which are left out then. Unknown fields are passed over.
 * @throws MalformedMessageError
 */
export function decodeMessage(table: MessageTable, bytes: Buffer): Decoded {
  return readFields(table, new MessageReader(bytes));
}

function readFields(table: MessageTable, reader: MessageReader): Decoded {
  const decoded = blank(table);
  while (reader.more) {
    const tag = reader.tag();
    const field = table.byNumber.get(tag >>> 3);
    if (field === undefined || WIRE_TYPES[field.type] !== (tag & 7)) reader.skip(tag);
    else if (field.kind === 'map') readEntry(decoded[field.name] as Record<string, string>, reader.message());
    else if (field.kind === 'repeated') (decoded[field.name] as unknown[]).push(readValue(field, reader));
    else decoded[field.name] = readValue(field, reader);
  }
  return decoded;
}

function blank(table: MessageTable): Decoded {
  const decoded: Decoded = {};
  for (const { name, type, kind } of table.fields) {
    if (kind === 'repeated') decoded[name] = [];
    else if (kind === 'map') decoded[name] = Object.create(null);
    else if (kind === 'single' && type !== 'time' && type !== 'message') decoded[name] = zero(type);
  }
  return decoded;
}

function zero(type: Exclude<Field['type'], 'time' | 'message'>): unknown {
  switch (type) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int64-text':
      return '0';
    default:
      return 0;
  }
}

function readValue(field: Field, reader: MessageReader): unknown {
  switch (field.type) {
    case 'string':
      return reader.string();
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'int64':
      return reader.int64();
    case 'int64-text':
      return String(reader.bigInteger());
    case 'double':
      return reader.double();
    case 'time':
      return readTime(reader.message());
    case 'message':
      return readFields(field.message as MessageTable, reader.message());
    default:
      return field.type satisfies never;
  }
}

function readEntry(into: Record<string, string>, reader: MessageReader): void {
  let key = '';
  let value = '';
  while (reader.more) {
    const tag = reader.tag();
    if (tag === 10) key = reader.string();
    else if (tag === 18) value = reader.string();
    else reader.skip(tag);
  }
  into[key] = value;
}

function readTime(reader: MessageReader): Date {
  let seconds = 0;
  let nanos = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === 8) seconds = reader.int64();
    else if (tag === 16) nanos = reader.int32();
    else reader.skip(tag);
  }
  return new Date(seconds * 1000 + nanos / 1e6);
}
