import type { Fault } from '../proxy/ops/fault.ts';

/** What the exit code of an operator command says; man pages list them. */
export const ExitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  stillDraining: 4,
  unreachable: 5,
  refused: 6,
  partial: 7,
  cut: 8,
  hungUp: 129,
  interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Worst first. */
const SEVERITY: readonly ExitCode[] = [
  ExitCode.partial,
  ExitCode.cut,
  ExitCode.stillDraining,
  ExitCode.refused,
  ExitCode.unreachable,
  ExitCode.notFound,
  ExitCode.failed,
];

/** The exit code of several agents: the worst. */
export function worstExit(codes: readonly ExitCode[]): ExitCode {
  return SEVERITY.find((code) => codes.includes(code)) ?? codes.find((code) => code !== 0) ?? ExitCode.done;
}

/** The exit code of a refusal or failure. */
export function exitOf(fault: Fault): ExitCode {
  switch (fault.code) {
    case 'admin-unreachable':
    case 'admin-denied':
      return ExitCode.unreachable;
    case 'admin-not-found':
    case 'admin-none':
    case 'admin-several':
    case 'agent-ambiguous':
      return ExitCode.notFound;
    case 'admin-refused':
      return ExitCode.refused;
    case 'admin-bad-request':
      return ExitCode.usage;
    case 'confirmation-missing':
      return ExitCode.usage;
    default:
      return fault.code.startsWith('flag-') || FILE_CODES.has(fault.code) ? ExitCode.usage : ExitCode.failed;
  }
}

const FILE_CODES: ReadonlySet<string> = new Set([
  'file-missing',
  'file-unreadable',
  'file-too-large',
  'not-pem',
  'bad-certificate',
  'bad-key',
  'key-encrypted',
  'key-mismatch',
  'cert-missing',
  'ca-missing',
  'cert-without-key',
  'key-without-cert',
  'tls-refused',
  'socket-path-empty',
  'socket-path-bad',
  'socket-path-too-long',
  'bad-address',
  'admin-bad-address',
]);
