const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const DNS_LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const SUBDOMAIN = new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`);

/** What is wrong with labels written as `key=value,...`, as the end of a sentence; undefined when nothing is. */
export function labelsProblem(text: string): string | undefined {
  for (const pair of text.split(',')) {
    const [key, value, more] = pair.split('=') as [string, string | undefined, string | undefined];
    if (value === undefined || more !== undefined) return `has "${pair}" where key=value belongs`;
    const problem = keyProblem(key) ?? valueProblem(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The labels of a text in which labelsProblem() finds nothing. */
export function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(text.split(',').map((pair) => pair.split('=') as [string, string]));
}

/**
 * What is wrong with a label selector: requirements separated by commas, each one of `key`, `!key`, `key=value`,
 * `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key>1` and `key<1`. Empty selects everything.
 */
export function selectorProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  for (const requirement of splitOutsideParentheses(text)) {
    const problem = requirementProblem(requirement.trim());
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function requirementProblem(text: string): string | undefined {
  const set = /^(\S+)\s+(?:not)?in\s*\(([^()]*)\)$/.exec(text);
  if (set !== null) {
    const values = (set[2] as string).split(',').map((value) => value.trim());
    return keyProblem(set[1] as string) ?? values.map(valueProblem).find((problem) => problem !== undefined);
  }
  const number = /^([^<>=!\s]+)\s*[<>]\s*(\S*)$/.exec(text);
  if (number !== null) {
    const whole = /^-?\d+$/.test(number[2] as string);
    return (
      keyProblem(number[1] as string) ?? (whole ? undefined : `compares with "${number[2]}", no whole number`)
    );
  }
  const equality = /^([^<>=!\s]+)\s*(?:==|!=|=)\s*([^<>=!\s]*)$/.exec(text);
  if (equality !== null) return keyProblem(equality[1] as string) ?? valueProblem(equality[2] as string);
  const exists = /^!?\s*([^<>=!\s]+)$/.exec(text);
  if (exists !== null) return keyProblem(exists[1] as string);
  return `has "${text}", which is no requirement`;
}

function splitOutsideParentheses(text: string): string[] {
  return text.split(/,(?![^(]*\))/);
}

function keyProblem(key: string): string | undefined {
  const slash = key.lastIndexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const prefixOk = prefix === undefined || (prefix.length <= 253 && SUBDOMAIN.test(prefix));
  return prefixOk && NAME.test(key.slice(slash + 1)) ? undefined : `has the bad label key "${key}"`;
}

function valueProblem(value: string): string | undefined {
  return value === '' || NAME.test(value) ? undefined : `has the bad label value "${value}"`;
}
