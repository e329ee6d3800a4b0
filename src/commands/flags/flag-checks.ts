import { Fault } from '../../proxy/ops/fault.ts';
import type { FaultCode } from '../../proxy/ops/fault-code.ts';
import type { FlagTable } from './flag-definition.ts';
import type { FlagEnvironment } from './flag-environment.ts';
import { LONGEST_TIMER_MS } from './go-duration.ts';

/** Collects what is wrong with values that could be read. Every refusal names flag, value and remedy. */
export class FlagChecks {
  readonly refusals: Fault[] = [];
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  refuse(code: FaultCode, message: string, remedy: string): void {
    this.refusals.push(new Fault(code, message, remedy));
  }

  /** Runs a check that throws a Fault. */
  attempt(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.refusals.push(error);
    }
  }

  /** Whether a text flag is not empty. */
  has(name: string): boolean {
    return this.#values[name] !== '';
  }

  /** `--name=value`, for messages. */
  shown(name: string): string {
    return `--${name}=${String(this.#values[name])}`;
  }

  portBetween(name: string, least: number, most: number): void {
    const port = this.#values[name] as number;
    if (port >= least && port <= most) return;
    this.refuse(
      'flag-port',
      `${this.shown(name)} is no port for this`,
      `choose one from ${least} to ${most}`,
    );
  }

  positive(name: string): void {
    if ((this.#values[name] as number) > 0) return;
    this.refuse('flag-value', `${this.shown(name)} must be greater than 0`, 'leave it out for the default');
  }

  /** `durations` in the words in which they were written are gone, so messages give milliseconds. */
  notNegative(...names: string[]): void {
    for (const name of names) {
      const value = this.#values[name] as number;
      if (value >= 0) continue;
      this.refuse('flag-value', `--${name} is negative (${value} ms)`, 'give 0 or more');
    }
  }

  atLeast(name: string, least: number, unit: string): void {
    if ((this.#values[name] as number) >= least) return;
    this.refuse('flag-value', `${this.shown(name)} is too small`, `give at least ${least} ${unit}`);
  }

  /** Certificate and key come together or not at all. */
  pair(certName: string, keyName: string): void {
    if (this.has(certName) === this.has(keyName)) return;
    const [given, missing] = this.has(certName) ? [certName, keyName] : [keyName, certName];
    const code: FaultCode = given === certName ? 'cert-without-key' : 'key-without-cert';
    this.refuse(code, `${this.shown(given)} is given without --${missing}`, `give --${missing} as well`);
  }

  contentionProfiling(): void {
    if (this.#values['enable-contention-profiling'] !== true || this.#values['enable-profiling'] === true)
      return;
    this.refuse(
      'flag-conflict',
      '--enable-contention-profiling=true is given without --enable-profiling',
      'give --enable-profiling as well',
    );
  }

  /** Files of the table that are named but not there. Whether they can be read is found out by who reads them. */
  files(table: FlagTable, environment: FlagEnvironment): void {
    for (const [name, definition] of Object.entries(table)) {
      if (definition.kind !== 'string' || definition.file !== true || !this.has(name)) continue;
      if (environment.fileExists(this.#values[name] as string)) continue;
      this.refuse('file-missing', `${this.shown(name)} is a file that does not exist`, 'check the path');
    }
  }
}

/** A delay that Node's timers can hold: longer ones, meant as "never", become 24.8 days. */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS);
}

/** A host as Node wants it: upstream's flags take IPv6 addresses with brackets, too. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}
