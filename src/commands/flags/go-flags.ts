import { Fault } from '../../proxy/ops/fault.ts';
import type { FaultCode } from '../../proxy/ops/fault-code.ts';
import { closestName } from './closest-name.ts';
import type { FlagDefinition, FlagTable, FlagValues } from './flag-definition.ts';
import { parseGoDuration } from './go-duration.ts';
import { isProblem, parseGoBool, parseGoInt, parseGoNumber, parseGoStrings } from './go-values.ts';

export interface GoFlagsOptions {
  /** For the hint at the usage: `konnectivity-ts serve`. */
  readonly command: string;
  /** Flags of others that are often seen here, and what to do about each. */
  readonly foreign?: Readonly<Record<string, string>>;
  /** The other command, for flags that are given to the wrong one. */
  readonly sibling?: { readonly command: string; readonly table: FlagTable };
}

export interface GoFlags<Table extends FlagTable> {
  readonly values: FlagValues<Table>;
  /** The flags that were on the command line: an explicit value may mean more than an equal default. */
  readonly given: ReadonlySet<keyof Table & string>;
  /** `--help` or `-h` was among them. */
  readonly help: boolean;
  /** What could not be read, in order; the values are then incomplete. */
  readonly refusals: readonly Fault[];
}

const ADVICE = {
  bool: 'give true or false, with "=" before it',
  int: 'give a whole number',
  number: 'give a number',
  duration: 'give a duration such as 90s, 1m30s or 500ms',
  string: '',
  strings: 'separate values by commas and put quotes around a whole value only',
} as const;

/** Reads an argument list with the syntax of Go's pflag. Never throws. */
export function parseGoFlags<const Table extends FlagTable>(
  table: Table,
  argv: readonly string[],
  options: GoFlagsOptions,
): GoFlags<Table> {
  const reader = new ArgumentReader(table, options);
  reader.read(argv);
  return {
    values: reader.values as FlagValues<Table>,
    given: reader.given,
    help: reader.help,
    refusals: reader.refusals,
  };
}

class ArgumentReader {
  readonly values: Record<string, unknown> = {};
  readonly given = new Set<string>();
  readonly refusals: Fault[] = [];
  help = false;
  readonly #table: FlagTable;
  readonly #options: GoFlagsOptions;
  readonly #shorthands = new Map<string, string>();
  #argv: readonly string[] = [];
  #at = 0;

  constructor(table: FlagTable, options: GoFlagsOptions) {
    this.#table = table;
    this.#options = options;
    for (const [name, definition] of Object.entries(table)) {
      this.values[name] =
        definition.kind === 'duration' ? parseGoDuration(definition.default) : definition.default;
      if (definition.shorthand !== undefined) this.#shorthands.set(definition.shorthand, name);
    }
  }

  read(argv: readonly string[]): void {
    this.#argv = argv;
    for (this.#at = 0; this.#at < argv.length; ) {
      const argument = argv[this.#at++] as string;
      if (argument === '--') {
        while (this.#at < argv.length) this.#positional(argv[this.#at++] as string);
      } else if (argument.startsWith('--')) this.#long(argument);
      else if (argument.startsWith('-') && argument !== '-') this.#short(argument);
      else this.#positional(argument);
    }
  }

  #long(argument: string): void {
    const split = argument.indexOf('=');
    const written = argument.slice(2, split < 0 ? undefined : split);
    if (written === '' || written.startsWith('-')) {
      this.#refuse('flag-syntax', `${argument} is no flag`, 'write --name=value');
      return;
    }
    const name = written.replaceAll('_', '-');
    if (name === 'help' && !Object.hasOwn(this.#table, name)) this.help = true;
    else if (!Object.hasOwn(this.#table, name)) this.#unknown(written, split < 0);
    else this.#take(name, `--${written}`, split < 0 ? undefined : argument.slice(split + 1));
  }

  /** Letters with a single dash: `-v=4`, `-v4`, `-v 4`. Long names with a single dash are an error, as in pflag. */
  #short(argument: string): void {
    const letter = argument[1] as string;
    const name = this.#shorthands.get(letter);
    if (argument === '-h') {
      this.help = true;
    } else if (name === undefined) {
      const long = argument.replace(/^-/, '').split('=')[0]?.replaceAll('_', '-') ?? '';
      this.#refuse('flag-unknown', `${argument} is an unknown flag`, this.#suggestion(long));
      if (!argument.includes('=')) this.#skipValue();
    } else {
      const rest = argument.slice(2);
      this.#take(name, `-${letter}`, rest === '' ? undefined : rest.replace(/^=(?=.)/, ''));
    }
  }

  #take(name: string, written: string, attached: string | undefined): void {
    const definition = this.#table[name] as FlagDefinition;
    let text = attached;
    if (text === undefined && definition.kind === 'bool') text = 'true';
    if (text === undefined) {
      if (this.#at >= this.#argv.length) {
        this.#refuse('flag-syntax', `${written} needs a value`, `write --${name}=...; ${this.#usage()}`);
        return;
      }
      text = this.#argv[this.#at++] as string;
    }
    const value = parseValue(definition, text);
    if (isProblem(value)) {
      this.#refuse('flag-value', `--${name}=${text} ${value.problem}`, advice(definition));
      return;
    }
    // The first occurrence of a list replaces the default, later ones add to it.
    const more = definition.kind === 'strings' && this.given.has(name);
    this.values[name] = more ? [...(this.values[name] as string[]), ...(value as string[])] : value;
    this.given.add(name);
  }

  #unknown(written: string, mayHaveValue: boolean): void {
    if (mayHaveValue) this.#skipValue();
    const name = written.replaceAll('_', '-');
    const foreign = this.#options.foreign;
    if (foreign !== undefined && Object.hasOwn(foreign, name)) {
      this.#refuse('flag-foreign', `--${written} is a flag of another distribution`, foreign[name] as string);
      return;
    }
    const sibling = this.#options.sibling;
    if (sibling !== undefined && Object.hasOwn(sibling.table, name)) {
      this.#refuse('flag-unknown', `--${written} is a flag of ${sibling.command}`, this.#usage());
      return;
    }
    this.#refuse('flag-unknown', `--${written} is an unknown flag`, this.#suggestion(name));
  }

  /** What follows an unknown flag is most likely its value: one refusal is enough. */
  #skipValue(): void {
    const next = this.#argv[this.#at];
    if (next !== undefined && !next.startsWith('-')) this.#at++;
  }

  #positional(argument: string): void {
    const remedy =
      'only flags are taken; a boolean takes its value after "=", and text with spaces needs quotes';
    this.#refuse('flag-syntax', `"${argument}" is an argument without a flag`, remedy);
  }

  #suggestion(wrong: string): string {
    const visible = Object.keys(this.#table).filter((name) => this.#table[name]?.hidden !== true);
    const meant = closestName(wrong, visible);
    return `${meant === undefined ? '' : `did you mean --${meant}? `}${this.#usage()}`;
  }

  #usage(): string {
    return `${this.#options.command} --help lists the flags`;
  }

  #refuse(code: FaultCode, message: string, remedy: string): void {
    this.refusals.push(new Fault(code, message, remedy));
  }
}

function parseValue(definition: FlagDefinition, text: string): unknown {
  switch (definition.kind) {
    case 'bool':
      return parseGoBool(text);
    case 'int':
      return parseGoInt(text);
    case 'number':
      return parseGoNumber(text);
    case 'duration':
      return parseGoDuration(text);
    case 'strings':
      return parseGoStrings(text);
    case 'string':
      if (definition.choices === undefined || definition.choices.includes(text)) return text;
      return { problem: 'is none of the values there are' };
  }
}

function advice(definition: FlagDefinition): string {
  if (definition.kind === 'string') return `give ${(definition.choices ?? []).join(' or ')}`;
  return ADVICE[definition.kind];
}
