import protobuf from 'protobufjs';

/** A field as the codec has it: name, number, type, and (unless single) how it repeats. */
export type FieldDefinition = [name: string, number: number, type: string, kind?: string];

export interface AdminDefinitions {
  readonly messages: Record<string, FieldDefinition[]>;
  /** Request, response, and whether responses are a stream. */
  readonly methods: Record<string, [request: string, response: string, streamed: boolean]>;
}

const SCALARS = new Set(['string', 'bool', 'double', 'int32', 'int64']);
const TIMESTAMP = 'google.protobuf.Timestamp';

/** What the codec of the admin API needs of proto/admin.proto. @throws Error for what the codec does not know */
export function adminDefinitions(file = 'proto/admin.proto'): AdminDefinitions {
  const root = protobuf.loadSync(file).lookup('konnectivity.admin.v1') as protobuf.Namespace;
  const messages: AdminDefinitions['messages'] = {};
  const methods: AdminDefinitions['methods'] = {};
  for (const one of root.nestedArray) {
    if (one instanceof protobuf.Type) messages[one.name] = one.fieldsArray.map(field);
    else if (one instanceof protobuf.Service) {
      for (const { name, requestType, responseType, responseStream } of one.methodsArray) {
        methods[name] = [requestType, responseType, responseStream === true];
      }
    }
  }
  return { messages, methods };
}

function field(one: protobuf.Field): FieldDefinition {
  const { name, id, type, repeated } = one;
  if (one instanceof protobuf.MapField) {
    if (one.keyType !== 'string' || type !== 'string') throw new Error(`${name}: only maps of strings`);
    return [name, id, 'string', 'map'];
  }
  if (repeated && type !== 'string' && SCALARS.has(type))
    throw new Error(`${name}: packed fields are unknown`);
  if (!SCALARS.has(type) && type.includes('.') && type !== TIMESTAMP)
    throw new Error(`${name}: what is ${type}`);
  const kind = type === TIMESTAMP ? 'time' : one.options?.jstype === 'JS_STRING' ? 'int64-text' : type;
  if (repeated) return [name, id, kind, 'repeated'];
  return one.options?.proto3_optional === true ? [name, id, kind, 'optional'] : [name, id, kind];
}
