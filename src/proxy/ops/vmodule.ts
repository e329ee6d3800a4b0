/** One part of klog's --vmodule: files that match get this verbosity. */
export interface ModuleVerbosity {
  readonly matches: (file: string) => boolean;
  readonly verbosity: number;
}

/**
 * Reads klog's --vmodule: `pattern=N,...`, where a pattern is a source file's name without its ending, or a glob as
 * Go's filepath.Match has it. The first pattern that matches a file counts.
 * @returns what is wrong with the text, in words, when it cannot be read
 */
export function parseVmodule(text: string): ModuleVerbosity[] | { readonly problem: string } {
  const modules: ModuleVerbosity[] = [];
  for (const part of text.split(',')) {
    if (part === '') continue;
    const [pattern, level, ...more] = part.split('=');
    if (!pattern || !level || more.length > 0 || !/^[+-]?\d{1,9}$/.test(level)) {
      return { problem: `has "${part}", which is not pattern=N` };
    }
    const verbosity = Number(level);
    if (verbosity < 0) return { problem: `has the negative verbosity ${verbosity}` };
    // Like klog, which leaves out what would not raise anything.
    if (verbosity > 0) modules.push({ matches: globMatcher(pattern), verbosity });
  }
  return modules;
}

/** Go's filepath.Match: `*`, `?`, `[a-z]`, `[^a]` and backslash; a pattern that is malformed matches nothing. */
export function globMatcher(pattern: string): (name: string) => boolean {
  if (!/[\\*?[\]]/.test(pattern)) return (name) => name === pattern;
  const source = globSource(pattern);
  if (source === undefined) return () => false;
  const expression = new RegExp(`^(?:${source})$`, 'su');
  return (name) => expression.test(name);
}

function globSource(pattern: string): string | undefined {
  let source = '';
  let rest = pattern;
  while (rest !== '') {
    const token = /^(?:\*|\?|\\(.)|\[(\^?)((?:\\.|[^\]\\])+)\]|([^*?[\\]))/su.exec(rest);
    if (token === null) return undefined;
    rest = rest.slice(token[0].length);
    const [whole, escaped, negated, set, plain] = token;
    if (whole === '*') source += '[^/]*';
    else if (whole === '?') source += '[^/]';
    else if (set !== undefined) {
      const members = setSource(set);
      if (members === undefined) return undefined;
      source += `[${negated}${members}]`;
    } else source += literal((escaped ?? plain) as string);
  }
  return source;
}

/** Members and ranges of a set. */
function setSource(set: string): string | undefined {
  let source = '';
  let rest = set;
  while (rest !== '') {
    const token = /^(?:\\(.)|([^-]))(?:-(?:\\(.)|([^-])))?/su.exec(rest);
    if (token === null) return undefined;
    rest = rest.slice(token[0].length);
    const from = (token[1] ?? token[2]) as string;
    const to = token[3] ?? token[4];
    if (to !== undefined && (to.codePointAt(0) as number) < (from.codePointAt(0) as number)) return undefined;
    source += literal(from) + (to === undefined ? '' : `-${literal(to)}`);
  }
  return source;
}

function literal(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}
