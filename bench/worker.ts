/** The worker's side of a conversation with the bench: named calls, one answer each. */

export interface CallMessage {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

export interface AnswerMessage {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: each handler knows its own argument.
type Handlers = Record<string, (argument: any) => unknown>;

/** Answers calls until the bench goes away, and then ends the process. */
export function answerCalls(handlers: Handlers): void {
  process.on('message', async (message: CallMessage) => {
    process.send?.(await answer(handlers, message));
  });
  process.on('disconnect', () => process.exit());
  // A terminal's Ctrl-C reaches this process too; the bench decides what ends when.
  process.on('SIGINT', () => {});
}

async function answer(handlers: Handlers, { id, name, argument }: CallMessage): Promise<AnswerMessage> {
  try {
    const handler = handlers[name];
    if (handler === undefined) throw new Error(`no call is named ${name}`);
    return { id, result: await handler(argument) };
  } catch (error) {
    return { id, error: (error as Error).message };
  }
}
