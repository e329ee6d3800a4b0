import definitions from './definitions.json' with { type: 'json' };

/** `message` stands for every name of a message. */
export type FieldType = 'string' | 'bool' | 'double' | 'int32' | 'int64' | 'int64-text' | 'time' | 'message';
export type FieldKind = 'single' | 'optional' | 'repeated' | 'map';

/** A field of a message of proto/admin.proto. */
export interface Field {
  readonly name: string;
  readonly number: number;
  readonly type: FieldType;
  readonly kind: FieldKind;
  /** Of the type `message`. */
  readonly message: MessageTable | undefined;
}

export interface MessageTable {
  readonly name: string;
  readonly fields: Field[];
  /** By number times 8 and wire type: of another wire type a field is not known. */
  readonly byTag: Field[];
}

const SCALARS: ReadonlySet<string> = new Set([
  'string',
  'bool',
  'double',
  'int32',
  'int64',
  'int64-text',
  'time',
] satisfies FieldType[]);

const WIRE_TYPES: Readonly<Record<FieldType, number>> = {
  bool: 0,
  int32: 0,
  int64: 0,
  'int64-text': 0,
  double: 1,
  string: 2,
  time: 2,
  message: 2,
};

const tables = new Map<string, MessageTable>();
for (const name of Object.keys(definitions.messages)) {
  tables.set(name, { name, fields: [], byTag: [] });
}
for (const [name, fields] of Object.entries(definitions.messages)) {
  const table = messageTable(name);
  for (const [fieldName, number, type, kind = 'single'] of fields as [string, number, string, FieldKind?][]) {
    const scalar = SCALARS.has(type);
    const field: Field = {
      name: fieldName,
      number,
      type: scalar ? (type as FieldType) : 'message',
      kind,
      message: scalar ? undefined : messageTable(type),
    };
    table.fields.push(field);
    table.byTag[number * 8 + WIRE_TYPES[field.type]] = field;
  }
}

/** The fields of a message, by its name in proto/admin.proto. */
export function messageTable(name: string): MessageTable {
  const table = tables.get(name);
  if (table === undefined) throw new Error(`proto/admin.proto has no message ${name}`);
  return table;
}
