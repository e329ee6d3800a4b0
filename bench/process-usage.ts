import { readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { gunzipSync } from 'node:zlib';

// The kernel reports these times in units of USER_HZ, which is 100 on every Linux architecture that Node runs on.
const MS_PER_TICK = 10;
const SYN_SENT = '02';

/** CPU time of a process since its start, user and system together, in milliseconds (steps of 10). */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command in parentheses, and may itself contain blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/**
 * CPU time of all processes of the machine, and what the host took away (steal), in milliseconds. Interrupts count as
 * they do for a single process: most of them carry the bytes of loopback connections.
 */
export function machineCpuMs(
  stat = readFileSync('/proc/stat', 'utf8'),
  charged = interruptsAreCharged(),
): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (
    /^cpu +(.+)$/m.exec(stat)?.[1] ?? ''
  )
    .split(' ')
    .map(Number);
  return (user + nice + system + steal + (charged ? irq + softirq : 0)) * MS_PER_TICK;
}

let charged: boolean | undefined;

/**
 * Whether this kernel counts interrupts for the process that they interrupted: it does, unless it was built to take
 * their time (IRQ_TIME_ACCOUNTING). Where that is not told, what others use is rather said to be too much.
 */
function interruptsAreCharged(): boolean {
  charged ??= !/^CONFIG_IRQ_TIME_ACCOUNTING=y$/m.test(kernelConfig());
  return charged;
}

function kernelConfig(): string {
  try {
    return gunzipSync(readFileSync('/proc/config.gz')).toString();
  } catch {
    // Most distributions have it here.
  }
  try {
    return readFileSync(`/boot/config-${release()}`, 'utf8');
  } catch {
    return '';
  }
}

/** Share of one core that other processes than these used; clocks of the kernel tick, so it may be a little less than nothing. */
export function othersBusy(machineMs: number, ownMs: number, elapsedMs: number): number {
  return Math.max(0, machineMs - ownMs) / elapsedMs;
}

/** Most memory the process held since the start or resetPeakRss, in bytes. */
export function peakRssBytes(pid: number): number {
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1024;
}

/** Memory that the process holds now, in bytes. */
export function rssBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1024;
}

/** How many connects of this machine to `port` are not answered yet (SYN_SENT), over IPv4. */
export function connecting(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return lines.filter((line) => {
    const [, , remoteAddress = '', state] = line.trim().split(/\s+/);
    return state === SYN_SENT && remoteAddress.endsWith(remote);
  }).length;
}

/** Makes peakRssBytes count from what the process holds now. */
export function resetPeakRss(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
