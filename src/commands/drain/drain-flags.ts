import { Fault } from '../../proxy/ops/fault.ts';
import type { AdminFlags } from '../admin-flags.ts';
import { durationFlag } from '../durations.ts';

/** What the command line of `drain` says. */
export interface DrainFlags extends AdminFlags {
  readonly reason?: string;
  readonly deadline?: string;
  readonly atDeadline?: 'keep' | 'close';
  readonly until?: 'undrain' | 'restart';
  readonly timeout?: string;
  readonly closeQuiet?: string;
  /** False with --no-wait. */
  readonly wait: boolean;
  readonly monitor?: true;
  readonly dryRun?: true;
  readonly allowPartial?: true;
  readonly force?: true;
  readonly yes?: true;
  readonly output?: 'json';
}

/** What `drain` is to do, out of its flags. */
export interface DrainPlan {
  readonly reason?: string;
  readonly deadlineMs?: number;
  readonly atDeadline?: 'keep' | 'close';
  readonly until?: 'undrain' | 'restart';
  readonly timeoutMs: number | undefined;
  readonly closeQuietMs: number | undefined;
  readonly wait: boolean;
  readonly monitor: boolean;
  readonly dryRun: boolean;
  readonly allowPartial: boolean;
  readonly force: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

/** @throws Fault that names the flag */
export function readPlan(flags: DrainFlags): DrainPlan {
  const timeoutMs = durationFlag('--timeout', flags.timeout);
  const closeQuietMs = durationFlag('--close-quiet', flags.closeQuiet);
  const deadlineMs = durationFlag('--deadline', flags.deadline, 'zero');
  if (flags.monitor) refuseBeside(flags);
  if (!flags.wait) {
    for (const [name, given] of [
      ['--timeout', timeoutMs],
      ['--close-quiet', closeQuietMs],
    ]) {
      if (given !== undefined) {
        throw new Fault('flag-conflict', `${name} is given with --no-wait`, 'leave one of them out');
      }
    }
  }
  return {
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(flags.atDeadline === undefined ? {} : { atDeadline: flags.atDeadline }),
    ...(flags.until === undefined ? {} : { until: flags.until }),
    timeoutMs,
    closeQuietMs,
    wait: flags.wait,
    monitor: flags.monitor === true,
    dryRun: flags.dryRun === true,
    allowPartial: flags.allowPartial === true,
    force: flags.force === true,
    yes: flags.yes === true,
    json: flags.output === 'json',
  };
}

/** --monitor only looks on: what would change something contradicts it. */
function refuseBeside(flags: DrainFlags): void {
  const acting: readonly (readonly [string, unknown])[] = [
    ['--reason', flags.reason],
    ['--deadline', flags.deadline],
    ['--at-deadline', flags.atDeadline],
    ['--until', flags.until],
    ['--close-quiet', flags.closeQuiet],
    ['--no-wait', flags.wait ? undefined : true],
    ['--dry-run', flags.dryRun],
    ['--force', flags.force],
  ];
  const other = acting.find(([, value]) => value !== undefined)?.[0];
  if (other === undefined) return;
  throw new Fault(
    'flag-conflict',
    `--monitor changes nothing, and ${other} is given`,
    'leave one of them out',
  );
}
