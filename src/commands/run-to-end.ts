import { Fault } from '../proxy/ops/fault.ts';

/** Runs a program; what it throws for the person who started it becomes lines on stderr and an exit code. */
export async function runToEnd(program: () => Promise<unknown>): Promise<void> {
  try {
    await program();
  } catch (error) {
    if (error instanceof Fault) {
      for (const line of error.line.split('\n')) process.stderr.write(`konnectivity-ts: ${line}\n`);
      process.exitCode = 1;
    } else if (error instanceof Error && 'exitCode' in error) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else throw error;
  }
}
