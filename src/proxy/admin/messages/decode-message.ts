import { MessageReader } from './message-reader.ts';
import type { Field, MessageTable } from './table.ts';

type Decoded = Record<string, unknown>;

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
  const { byTag } = table;
  while (reader.more) {
    const tag = reader.tag();
    const field = byTag[tag];
    if (field === undefined) reader.skip(tag);
    else if (field.kind === 'repeated') (decoded[field.name] as unknown[]).push(readValue(field, reader));
    else if (field.kind === 'map') readEntry(decoded[field.name] as Record<string, string>, reader);
    else decoded[field.name] = readValue(field, reader);
  }
  return decoded;
}

const blanks = new Map<MessageTable, Blank>();

/** What every message of a kind begins as. */
interface Blank {
  /** Zero values, in the order of the table. */
  readonly values: Decoded;
  /** Lists and maps, of which each message has its own. */
  readonly own: readonly Field[];
}

/** A copy of an object is made in one go, where 30 fields that are set one by one take most of the time. */
function blank(table: MessageTable): Decoded {
  let known = blanks.get(table);
  if (known === undefined) {
    known = blankOf(table);
    blanks.set(table, known);
  }
  const decoded = { ...known.values };
  for (const { name, kind } of known.own) decoded[name] = kind === 'map' ? Object.create(null) : [];
  return decoded;
}

function blankOf({ fields }: MessageTable): Blank {
  const values: Decoded = {};
  for (const { name, type, kind } of fields) {
    if (kind === 'repeated' || kind === 'map') values[name] = undefined;
    else if (kind === 'single' && type !== 'time' && type !== 'message') values[name] = zero(type);
  }
  return { values, own: fields.filter(({ kind }) => kind === 'repeated' || kind === 'map') };
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
      return readTime(reader);
    case 'message': {
      const outer = reader.enter();
      const value = readFields(field.message as MessageTable, reader);
      reader.leave(outer);
      return value;
    }
    default:
      return field.type satisfies never;
  }
}

function readEntry(into: Record<string, string>, reader: MessageReader): void {
  let key = '';
  let value = '';
  const outer = reader.enter();
  while (reader.more) {
    const tag = reader.tag();
    if (tag === 10) key = reader.string();
    else if (tag === 18) value = reader.string();
    else reader.skip(tag);
  }
  reader.leave(outer);
  into[key] = value;
}

function readTime(reader: MessageReader): Date {
  let seconds = 0;
  let nanos = 0;
  const outer = reader.enter();
  while (reader.more) {
    const tag = reader.tag();
    if (tag === 8) seconds = reader.int64();
    else if (tag === 16) nanos = reader.int32();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return new Date(seconds * 1000 + nanos / 1e6);
}
