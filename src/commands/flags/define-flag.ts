// Short forms for the tables of flags: each makes a definition that works; spread a status behind it for others.

/** Adds the heading to each definition of a part of a table. */
export function inGroup<const Part extends Record<string, object>>(
  group: string,
  part: Part,
): { readonly [Name in keyof Part]: Part[Name] & { readonly group: string } } {
  const entries = Object.entries(part).map(([name, definition]) => [name, { ...definition, group }]);
  return Object.fromEntries(entries);
}

export function bool(value: boolean, help: string) {
  return { kind: 'bool', default: value, help, status: 'works' } as const;
}

export function int(value: number, help: string) {
  return { kind: 'int', default: value, help, status: 'works' } as const;
}

export function number(value: number, help: string) {
  return { kind: 'number', default: value, help, status: 'works' } as const;
}

/** `value` as Go writes durations. */
export function duration(value: string, help: string) {
  return { kind: 'duration', default: value, help, status: 'works' } as const;
}

export function string(value: string, help: string) {
  return { kind: 'string', default: value, help, status: 'works' } as const;
}

/** The path of a file that must exist when it is given; none by default. */
export function file(help: string) {
  return { kind: 'string', default: '', file: true, help, status: 'works' } as const;
}

export function choice<const Choice extends string>(
  choices: readonly Choice[],
  value: NoInfer<Choice>,
  help: string,
) {
  return { kind: 'string', default: value, choices, help, status: 'works' } as const;
}

/** An empty list by default. */
export function strings(help: string) {
  return { kind: 'strings', default: [], help, status: 'works' } as const;
}

/** Taken, but without meaning here, and why. */
export function accepted(why: string) {
  return { status: 'accepted', why } as const;
}

/** A flag that upstream does not have. */
export const ours = { ours: true } as const;
