import { decodeMessage } from './decode-message.ts';
import definitions from './definitions.json' with { type: 'json' };
import { encodeMessage } from './encode-message.ts';
import type { AdminMethods } from './message-types.ts';
import { type MessageTable, messageTable } from './table.ts';

/** The name of the service, before the slash of every path. */
export const ADMIN_SERVICE = 'konnectivity.admin.v1.Admin';

export type MethodName = keyof AdminMethods;
type RequestOf<Name extends MethodName> = AdminMethods[Name]['request'];
type ResponseOf<Name extends MethodName> = AdminMethods[Name]['response'];

/** How a method travels. Objects have the shapes of AdminMethods. */
export interface MethodCodec<Name extends MethodName = MethodName> {
  readonly path: string;
  readonly streamed: boolean;
  encodeRequest(request: RequestOf<Name>): Buffer;
  /** @throws MalformedMessageError */
  decodeRequest(bytes: Buffer): RequestOf<Name>;
  encodeResponse(response: ResponseOf<Name>): Buffer;
  /** @throws MalformedMessageError */
  decodeResponse(bytes: Buffer): ResponseOf<Name>;
}

export const METHOD_NAMES = Object.keys(definitions.methods) as MethodName[];

/** The one place where the messages of proto/admin.proto become objects of ours, and back, on both sides. */
export function methodCodec<Name extends MethodName>(name: Name): MethodCodec<Name> {
  const [request, response, streamed] = definitions.methods[name] as [string, string, boolean];
  const [requestTable, responseTable]: MessageTable[] = [messageTable(request), messageTable(response)];
  return {
    path: `/${ADMIN_SERVICE}/${name}`,
    streamed,
    encodeRequest: (value) => encodeMessage(requestTable as MessageTable, value),
    decodeRequest: (bytes) => decodeMessage(requestTable as MessageTable, bytes) as RequestOf<Name>,
    encodeResponse: (value) => encodeMessage(responseTable as MessageTable, value),
    decodeResponse: (bytes) =>
      decodeMessage(responseTable as MessageTable, bytes) as unknown as ResponseOf<Name>,
  };
}
