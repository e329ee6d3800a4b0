import { MessageWriter } from './message-writer.ts';
import type { Field, MessageTable } from './table.ts';

/** A message that is encoded already, in the place of the object: one agent goes to many watchers. */
export class Encoded {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

const writer = new MessageWriter();

/**
 * Encodes an object as a protobuf message. Fields of the object that the message does not have are left out, and so
 * are zero values, as proto3 does; what is `optional` is written whenever it is there.
 */
export function encodeMessage(table: MessageTable, value: object): Buffer {
  writer.clear();
  writeFields(table, value as Record<string, unknown>);
  return writer.copy();
}

function writeFields(table: MessageTable, value: Record<string, unknown>): void {
  for (const field of table.fields) {
    const one = value[field.name];
    if (one === undefined || one === null) continue;
    switch (field.kind) {
      case 'repeated':
        for (const item of one as readonly unknown[]) writeField(field, item, true);
        break;
      case 'map':
        for (const [key, item] of Object.entries(one)) writeEntry(field, key, String(item));
        break;
      default:
        writeField(field, one, field.kind === 'optional');
    }
  }
}

function writeField(field: Field, value: unknown, evenZero: boolean): void {
  const { number } = field;
  switch (field.type) {
    case 'string':
      if (evenZero || value !== '') writer.string(number, value as string);
      return;
    case 'bool':
      if (evenZero || value === true) writer.integer(number, value === true ? 1 : 0);
      return;
    case 'double':
      if (evenZero || value !== 0) writer.double(number, value as number);
      return;
    case 'int32':
    case 'int64':
      if (evenZero || value !== 0) writer.integer(number, value as number);
      return;
    case 'int64-text':
      if (evenZero || value !== '0') writer.bigInteger(number, BigInt(value as string));
      return;
    case 'time':
      writer.message(number, () => writeTime((value as Date).getTime()));
      return;
    case 'message':
      if (value instanceof Encoded) writer.bytes(number, value.bytes);
      else
        writer.message(number, () =>
          writeFields(field.message as MessageTable, value as Record<string, unknown>),
        );
      return;
    default:
      field.type satisfies never;
  }
}

function writeEntry({ number }: Field, key: string, value: string): void {
  writer.message(number, () => {
    writer.string(1, key);
    writer.string(2, value);
  });
}

function writeTime(unixMs: number): void {
  const seconds = Math.floor(unixMs / 1000);
  if (seconds !== 0) writer.integer(1, seconds);
  const nanos = Math.round((unixMs - seconds * 1000) * 1e6);
  if (nanos !== 0) writer.integer(2, nanos);
}
