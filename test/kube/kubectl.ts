import { spawn } from 'node:child_process';
import { settings } from './settings.ts';

export interface KubectlRun {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface KubectlOptions {
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** How long stdin stays open after `stdin` was written to it. */
  readonly holdMs?: number;
  /** Called with what came so far, and with what interrupts kubectl as Ctrl-C would. */
  readonly onOutput?: (stdout: string, interrupt: () => void) => void;
}

/** Runs kubectl to its end. */
export function runKubectl(
  kubeconfig: string,
  args: readonly string[],
  options: KubectlOptions = {},
): Promise<KubectlRun> {
  const { stdin = '', holdMs = 0, env, onOutput } = options;
  const child = spawn(settings.kubectl, [`--kubeconfig=${kubeconfig}`, ...args], {
    env: { ...process.env, ...env },
  });
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.push(chunk);
    onOutput?.(Buffer.concat(stdout).toString(), () => child.kill('SIGINT'));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // It may end before it has read all.
  child.stdin.on('error', () => {});
  if (holdMs === 0) child.stdin.end(stdin);
  else {
    child.stdin.write(stdin);
    setTimeout(() => child.stdin.end(), holdMs);
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout: Buffer.concat(stdout), stderr }));
  });
}
