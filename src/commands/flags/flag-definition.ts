/** What a flag means in this version; docs/FLAGS.md prints it. */
export type FlagStatus =
  /** It does what it says. */
  | { readonly status: 'works' }
  /** Taken so that an upstream argument list can stay as it is; without meaning here, which is logged once. */
  | { readonly status: 'accepted'; readonly why: string };

interface Described {
  /** The heading under which help and docs list it. */
  readonly group: string;
  /** One sentence, with the unit where there is one. */
  readonly help: string;
  /** Upstream's default where ours differs on purpose. */
  readonly upstreamDefault?: string;
  /** Upstream has no such flag. */
  readonly ours?: true;
  /** Accepted, but not shown in help. */
  readonly hidden?: true;
  /** One letter that may be written with a single dash. */
  readonly shorthand?: string;
}

type Kind =
  | { readonly kind: 'bool'; readonly default: boolean }
  | { readonly kind: 'int'; readonly default: number }
  | { readonly kind: 'number'; readonly default: number }
  /** The default as Go writes it; values are milliseconds. */
  | { readonly kind: 'duration'; readonly default: string }
  | {
      readonly kind: 'string';
      readonly default: string;
      /** The only values there are. */
      readonly choices?: readonly string[];
      /** The value is the path of a file that must exist. */
      readonly file?: true;
    }
  | { readonly kind: 'strings'; readonly default: readonly string[] };

export type FlagDefinition = Described & FlagStatus & Kind;

/** Definitions by flag name, without dashes. */
export type FlagTable = Readonly<Record<string, FlagDefinition>>;

type ValueOf<D> = D extends { kind: 'bool' }
  ? boolean
  : D extends { kind: 'int' | 'number' | 'duration' }
    ? number
    : D extends { kind: 'strings' }
      ? readonly string[]
      : D extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string;

/** The values of a table's flags; durations in milliseconds. */
export type FlagValues<Table extends FlagTable> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

/** Help may leave out what is usual; this is the one place that says what that is. */
export function isEmptyDefault(definition: FlagDefinition): boolean {
  const value = definition.default;
  return value === '' || value === false || (Array.isArray(value) && value.length === 0);
}

/** The default as it would be written on a command line. */
export function defaultText(definition: FlagDefinition): string {
  return Array.isArray(definition.default) ? definition.default.join(',') : String(definition.default);
}
