/** Why a dial failed; the words are those of upstream's metric `dial_failure_count{reason}`. */
export type DialFailureReason =
  | 'no_agent'
  | 'error_response'
  | 'unrecognized_response'
  | 'send_rsp'
  | 'backend_close'
  | 'backend_dial_timeout'
  | 'frontend_close';

/** A dial's failure: a text made for the person at the other end, and the HTTP status for CONNECT. */
export interface DialFailure {
  readonly reason: DialFailureReason;
  readonly text: string;
  readonly httpStatus: 502 | 503 | 504;
}

export function noAgent(address: string): DialFailure {
  return {
    reason: 'no_agent',
    text: `No agent available: no konnectivity agent is connected that could reach ${address}`,
    httpStatus: 503,
  };
}

export function agentLost(address: string, agentId: string): DialFailure {
  return {
    reason: 'backend_close',
    text: `dial ${address}: agent ${agentId} disconnected before it answered`,
    httpStatus: 502,
  };
}

export function droppedByAgent(address: string, agentId: string): DialFailure {
  return {
    reason: 'backend_close',
    text: `dial ${address}: agent ${agentId} gave the dial up`,
    httpStatus: 502,
  };
}

/** The agent connected, but there is nobody left to tell. */
export function clientGone(address: string): DialFailure {
  return {
    reason: 'send_rsp',
    text: `dial ${address}: the client was gone when it was answered`,
    httpStatus: 502,
  };
}

export function dialTimeout(address: string, agentId: string, timeoutMs: number): DialFailure {
  return {
    reason: 'backend_dial_timeout',
    text: `dial ${address}: agent ${agentId} gave no answer within ${timeoutMs / 1000} s`,
    httpStatus: 504,
  };
}

export function badAnswer(address: string, agentId: string, what: string): DialFailure {
  return {
    reason: 'unrecognized_response',
    text: `dial ${address}: agent ${agentId} ${what}`,
    httpStatus: 502,
  };
}

export function stopping(address: string): DialFailure {
  return {
    reason: 'no_agent',
    text: `dial ${address}: the konnectivity server is shutting down and takes no new dials`,
    httpStatus: 503,
  };
}

export function outOfDescriptors(address: string, limit: number): DialFailure {
  return {
    reason: 'no_agent',
    text: `dial ${address}: too many open files: the konnectivity server is at its limit of ${limit} descriptors`,
    httpStatus: 503,
  };
}

export function duplicateDialId(address: string): DialFailure {
  return {
    reason: 'error_response',
    text: `dial ${address}: a dial with the same ID is pending already`,
    httpStatus: 502,
  };
}

/** The agent answered with an error. Its text is passed on as it stands; time-outs get 504, full tables 503. */
export function refusedByAgent(text: string): DialFailure {
  const httpStatus = /timed? ?out|i\/o timeout|deadline exceeded/i.test(text)
    ? 504
    : /too many open files/i.test(text)
      ? 503
      : 502;
  return { reason: 'error_response', text, httpStatus };
}
