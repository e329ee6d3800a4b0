import { agentFlags } from './agent-flags.ts';
import { FlagChecks } from './flag-checks.ts';
import type { FlagValues } from './flag-definition.ts';
import type { FlagEnvironment } from './flag-environment.ts';
import { formatFlagHelp } from './flag-help.ts';
import { FlagRefusals } from './flag-refusals.ts';
import { foreignFlags } from './foreign-flags.ts';
import { parseGoFlags } from './go-flags.ts';
import { tlsVersion } from './go-tls-names.ts';
import { checkLeaseName, checkLeaseNamespace } from './lease-checks.ts';
import { checkLog } from './log-options.ts';
import { meaninglessFlags } from './meaningless-flags.ts';
import { memoryWarnings } from './memory-warning.ts';
import { checkPeerId } from './peer-id.ts';
import { checkServe } from './serve-checks.ts';
import { serveFlags } from './serve-flags.ts';
import { type ServeOptions, serveOptions } from './serve-options.ts';

/** Below it, one warning at the start. */
const MEMORY_MIB = 256;

export type ServeRequest =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'run';
      readonly options: ServeOptions;
      /** For the log at V(1). */
      readonly notes: readonly string[];
      readonly warnings: readonly string[];
    };

/** Reads the arguments of `konnectivity-ts serve`. Throws FlagRefusals, with everything that is wrong. */
export function parseServe(argv: readonly string[], environment: FlagEnvironment): ServeRequest {
  const { values, given, help, refusals } = parseGoFlags(serveFlags, argv, {
    command: 'konnectivity-ts serve',
    foreign: foreignFlags.serve,
    sibling: { command: 'konnectivity-ts agent', table: agentFlags },
  });
  if (help) return { kind: 'help', text: formatFlagHelp('konnectivity-ts serve', serveFlags) };
  if (refusals.length > 0) throw new FlagRefusals(refusals);
  const serverId = values['server-id'] || environment.env.PROXY_SERVER_ID || environment.newId();
  const checks = new FlagChecks(values);
  checkServe(checks, values);
  checkPeerId(checks, 'server-id', 'PROXY_SERVER_ID', serverId);
  checkLog(checks, values);
  if (values['enable-lease-controller']) {
    checkLeaseName(checks, serverId);
    checkLeaseNamespace(checks, values['lease-namespace']);
  }
  checks.contentionProfiling();
  checks.files(serveFlags, environment);
  if (checks.refusals.length > 0) throw new FlagRefusals(checks.refusals);
  return {
    kind: 'run',
    options: serveOptions(values, serverId, environment.memoryBytes),
    notes: meaninglessFlags(serveFlags, given),
    warnings: [
      ...memoryWarnings(environment.memoryBytes, environment.heapLimitBytes, MEMORY_MIB),
      ...serveWarnings(values, given),
    ],
  };
}

function serveWarnings(values: FlagValues<typeof serveFlags>, given: ReadonlySet<string>): string[] {
  const warnings: string[] = [];
  if (values['cluster-ca-cert'] === '' && values['agent-namespace'] === '') {
    warnings.push('--cluster-ca-cert is empty: whoever reaches the agent port may be an agent');
  }
  const version = tlsVersion(values['tls-min-version']);
  if (version === 'TLSv1' || version === 'TLSv1.1') {
    warnings.push(`--tls-min-version=${values['tls-min-version']} is below TLS 1.2 and insecure (RFC 8996)`);
  }
  if (given.has('backend-dial-timeout') && values['backend-dial-timeout'] === 0) {
    warnings.push('--backend-dial-timeout=0: a dial that its agent never answers waits for ever');
  }
  return warnings;
}
