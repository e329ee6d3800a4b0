import { type ChildProcess, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';

/** A plug-in that takes longer is killed; shorter than a request, so that the request can tell why it fails. */
const PLUGIN_MS = 7_000;

/**
 * Starts a credential plug-in of a kubeconfig. It is killed after `mostMs` and with this process, and does not keep this
 * process from ending.
 */
export function startPlugin(
  command: string,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio,
  mostMs = PLUGIN_MS,
): ChildProcess {
  const child = spawn(command, args, { ...options, timeout: mostMs, killSignal: 'SIGKILL' });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr])
    (pipe as unknown as { unref(): void }).unref();
  return child;
}

/** Why there are no credentials. What a plug-in printed to standard output is never part of it. */
export function pluginProblem(error: unknown): string {
  if (error instanceof SyntaxError || error instanceof TypeError) {
    return 'what the credential plug-in printed is no ExecCredential';
  }
  const message = error instanceof Error ? error.message.trim() : String(error);
  return message === '' ? 'the credential plug-in failed without a word, or took too long' : message;
}
