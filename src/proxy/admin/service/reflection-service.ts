import { type Server, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { MessageReader } from '../messages/message-reader.ts';
import { MessageWriter } from '../messages/message-writer.ts';
import type { IncomingCall } from './access.ts';
import { type FileDescriptor, fileDescriptors } from './file-descriptors.ts';
import { statusOfFault } from './status-of-fault.ts';

const PATHS = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'].map(
  (name) => `/${name}.ServerReflection/ServerReflectionInfo`,
);

interface ReflectionRequest {
  /** As it came, for the answer. */
  readonly bytes: Buffer;
  readonly kind: 'file' | 'symbol' | 'list' | 'other';
  readonly argument: string;
}

/** Server reflection, both of its versions: what grpcurl asks when it has no files. */
export function registerReflection(server: Server, admit: (call: IncomingCall) => void): void {
  let files: FileDescriptor[] | undefined;
  const answer = (request: ReflectionRequest): Buffer => {
    files ??= fileDescriptors();
    return answerTo(request, files);
  };
  const handle = (call: ServerDuplexStream<ReflectionRequest, Buffer>): void => {
    call.on('error', () => {});
    try {
      admit(call);
    } catch (error) {
      call.emit('error', statusOfFault(error));
      return;
    }
    call.on('data', (request: ReflectionRequest) => {
      // One that asks and does not read is asked to read first.
      if (call.write(answer(request))) return;
      call.pause();
      call.once('drain', () => call.resume());
    });
    call.on('end', () => call.end());
  };
  for (const path of PATHS) server.register(path, handle, (bytes: Buffer) => bytes, decodeRequest, 'bidi');
}

function answerTo({ bytes, kind, argument }: ReflectionRequest, files: readonly FileDescriptor[]): Buffer {
  const writer = new MessageWriter();
  writer.bytes(2, bytes);
  if (kind === 'list') {
    writer.message(6, () => {
      for (const name of files.flatMap(({ services }) => services)) {
        writer.message(1, () => writer.string(1, name));
      }
    });
    return writer.copy();
  }
  const found =
    kind === 'file'
      ? files.find(({ name }) => name === argument)
      : kind === 'symbol'
        ? files.find(({ symbols }) => symbols.has(argument))
        : undefined;
  if (found === undefined) {
    const known = kind !== 'other';
    writer.message(7, () => {
      writer.integer(1, known ? status.NOT_FOUND : status.UNIMPLEMENTED);
      writer.string(
        2,
        known ? `there is no ${argument.slice(0, 200)}` : 'only files, symbols and services are told',
      );
    });
    return writer.copy();
  }
  const needed = [found, ...files.filter(({ name }) => found.dependencies.includes(name))];
  writer.message(4, () => {
    for (const file of needed) writer.bytes(1, file.bytes);
  });
  return writer.copy();
}

function decodeRequest(bytes: Buffer): ReflectionRequest {
  const reader = new MessageReader(bytes);
  let kind: ReflectionRequest['kind'] = 'other';
  let argument = '';
  while (reader.more) {
    const tag = reader.tag();
    if (tag === 26 || tag === 34 || tag === 58) {
      kind = tag === 26 ? 'file' : tag === 34 ? 'symbol' : 'list';
      argument = reader.string();
    } else reader.skip(tag);
  }
  return { bytes, kind, argument };
}
