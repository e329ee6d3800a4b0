import type { AdminMethods } from '../messages/message-types.ts';
import type { MethodName } from '../messages/methods.ts';
import type { Caller } from './caller.ts';

/** The methods whose answer is a stream. */
export type StreamedMethod = 'WatchAgents' | 'WatchEvents';

/** What a handler knows of a call besides its request. */
export interface CallContext {
  readonly caller: Caller;
  /** Aborted when the client is gone, gave up, or its deadline passed. */
  readonly signal: AbortSignal;
}

type Response<Name extends MethodName> = AdminMethods[Name]['response'];
type Answer<Name extends MethodName> = Name extends StreamedMethod
  ? AsyncIterable<Response<Name>>
  : Response<Name> | Promise<Response<Name>>;

/** What answers the methods. Faults become statuses (status-of-fault.ts). A stream is asked for no more than is sent. */
export type AdminHandlers = {
  readonly [Name in MethodName]: (
    request: AdminMethods[Name]['request'],
    context: CallContext,
  ) => Answer<Name>;
};
