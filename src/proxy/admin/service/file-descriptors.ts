import definitions from '../messages/definitions.json' with { type: 'json' };
import { MessageWriter } from '../messages/message-writer.ts';

/** What is written of a file: messages and methods as in definitions.json. */
interface File {
  readonly name: string;
  readonly package: string;
  readonly dependencies: readonly string[];
  readonly messages: Readonly<Record<string, readonly Field[]>>;
  readonly service?: string;
  readonly methods?: Readonly<Record<string, Method>>;
  /** An enum within a message. */
  readonly enums?: Readonly<
    Record<string, { readonly name: string; readonly values: Readonly<Record<string, number>> }>
  >;
}
type Field = readonly (string | number)[];
type Method = readonly (string | boolean)[];

const TIMESTAMP = 'google.protobuf.Timestamp';
/** FieldDescriptorProto.Type. */
const TYPES: Readonly<Record<string, number>> = {
  double: 1,
  int64: 3,
  'int64-text': 3,
  int32: 5,
  bool: 8,
  string: 9,
};
const MESSAGE_TYPE = 11;
const ENUM_TYPE = 14;
const REPEATED = 3;
const SINGLE = 1;

const files: readonly File[] = [
  {
    name: 'konnectivity/admin/v1/admin.proto',
    package: 'konnectivity.admin.v1',
    dependencies: ['google/protobuf/timestamp.proto'],
    messages: definitions.messages as unknown as File['messages'],
    service: 'Admin',
    methods: definitions.methods as unknown as NonNullable<File['methods']>,
  },
  {
    name: 'google/protobuf/timestamp.proto',
    package: 'google.protobuf',
    dependencies: [],
    messages: {
      Timestamp: [
        ['seconds', 1, 'int64'],
        ['nanos', 2, 'int32'],
      ],
    },
  },
  {
    name: 'grpc/health/v1/health.proto',
    package: 'grpc.health.v1',
    dependencies: [],
    messages: {
      HealthCheckRequest: [['service', 1, 'string']],
      HealthCheckResponse: [['status', 1, 'HealthCheckResponse.ServingStatus']],
    },
    enums: {
      HealthCheckResponse: {
        name: 'ServingStatus',
        values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 },
      },
    },
    service: 'Health',
    methods: {
      Check: ['HealthCheckRequest', 'HealthCheckResponse', false],
      Watch: ['HealthCheckRequest', 'HealthCheckResponse', true],
    },
  },
];

/** A file of the reflection service. */
export interface FileDescriptor {
  readonly name: string;
  /** A FileDescriptorProto. */
  readonly bytes: Buffer;
  readonly dependencies: readonly string[];
  /** Full names of its messages, enums, services and methods. */
  readonly symbols: ReadonlySet<string>;
  readonly services: readonly string[];
}

/** What the reflection service tells: made when it is asked for the first time. */
export function fileDescriptors(): FileDescriptor[] {
  return files.map((file) => ({
    name: file.name,
    bytes: encodeFile(file),
    dependencies: file.dependencies,
    symbols: new Set(symbolsOf(file)),
    services: file.service === undefined ? [] : [`${file.package}.${file.service}`],
  }));
}

function* symbolsOf(file: File): Generator<string> {
  for (const name of Object.keys(file.messages)) yield `${file.package}.${name}`;
  for (const [message, { name }] of Object.entries(file.enums ?? {}))
    yield `${file.package}.${message}.${name}`;
  if (file.service === undefined) return;
  yield `${file.package}.${file.service}`;
  for (const method of Object.keys(file.methods ?? {})) yield `${file.package}.${file.service}.${method}`;
}

function encodeFile(file: File): Buffer {
  const writer = new MessageWriter();
  writer.string(1, file.name);
  writer.string(2, file.package);
  for (const dependency of file.dependencies) writer.string(3, dependency);
  for (const [name, fields] of Object.entries(file.messages)) {
    writer.message(4, () => writeMessage(writer, file, name, fields));
  }
  if (file.service !== undefined) writer.message(6, () => writeService(writer, file));
  writer.string(12, 'proto3');
  return writer.copy();
}

function writeMessage(writer: MessageWriter, file: File, name: string, fields: readonly Field[]): void {
  writer.string(1, name);
  const optional = fields.filter(([, , , kind]) => kind === 'optional').map(([field]) => String(field));
  for (const field of fields) writer.message(2, () => writeField(writer, file, name, field, optional));
  for (const [field, , , kind] of fields)
    if (kind === 'map') writer.message(3, () => writeEntry(writer, String(field)));
  const own = file.enums?.[name];
  if (own !== undefined) {
    writer.message(4, () => {
      writer.string(1, own.name);
      for (const [value, number] of Object.entries(own.values)) {
        writer.message(2, () => {
          writer.string(1, value);
          writer.integer(2, number);
        });
      }
    });
  }
  for (const field of optional) writer.message(8, () => writer.string(1, `_${snakeCase(field)}`));
}

function writeField(
  writer: MessageWriter,
  file: File,
  message: string,
  [name, number, type, kind]: Field,
  optional: readonly string[],
): void {
  writer.string(1, snakeCase(String(name)));
  writer.integer(3, Number(number));
  writer.integer(4, kind === 'repeated' || kind === 'map' ? REPEATED : SINGLE);
  const scalar = kind === 'map' ? undefined : TYPES[String(type)];
  if (scalar !== undefined) writer.integer(5, scalar);
  else {
    const isEnum = file.enums?.[message]?.name === String(type).split('.')[1];
    writer.integer(5, isEnum ? ENUM_TYPE : MESSAGE_TYPE);
    const entry = `${file.package}.${message}.${entryName(String(name))}`;
    writer.string(6, `.${kind === 'map' ? entry : type === 'time' ? TIMESTAMP : `${file.package}.${type}`}`);
  }
  if (type === 'int64-text') writer.message(8, () => writer.integer(6, 1));
  if (kind === 'optional') writer.integer(9, optional.indexOf(String(name)));
  writer.string(10, String(name));
  if (kind === 'optional') writer.integer(17, 1);
}

/** The message that a map is a list of. */
function writeEntry(writer: MessageWriter, field: string): void {
  writer.string(1, entryName(field));
  for (const [number, name] of [
    [1, 'key'],
    [2, 'value'],
  ] as const) {
    writer.message(2, () => {
      writer.string(1, name);
      writer.integer(3, number);
      writer.integer(4, SINGLE);
      writer.integer(5, 9);
      writer.string(10, name);
    });
  }
  writer.message(7, () => writer.integer(7, 1));
}

function writeService(writer: MessageWriter, file: File): void {
  writer.string(1, file.service ?? '');
  for (const [name, [request, response, streamed]] of Object.entries(file.methods ?? {})) {
    writer.message(2, () => {
      writer.string(1, name);
      writer.string(2, `.${file.package}.${request}`);
      writer.string(3, `.${file.package}.${response}`);
      if (streamed === true) writer.integer(6, 1);
    });
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function entryName(field: string): string {
  return `${field.charAt(0).toUpperCase()}${field.slice(1)}Entry`;
}
