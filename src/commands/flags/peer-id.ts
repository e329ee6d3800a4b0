import type { FlagChecks } from './flag-checks.ts';

/** An ID travels as gRPC metadata, which is printable ASCII without spaces around it. */
export function checkPeerId(checks: FlagChecks, flag: string, variable: string, id: string): void {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(id)) return;
  const message = `--${flag} (or ${variable}) "${id}" cannot be sent to peers`;
  checks.refuse('flag-value', message, 'use printable ASCII without spaces around it');
}
