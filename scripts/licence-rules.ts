import type { LockedPackage } from './locked-packages.ts';

/** Licences under which code may be part of an Apache-2.0 program that is passed on, by SPDX identifier. */
export const ALLOWED: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
];

/** Whether an SPDX expression leaves a choice with allowed licences alone. One that is not understood does not. */
export function isAllowed(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const term = (): boolean => {
    const token = tokens[at++];
    if (token !== '(') return token !== undefined && ALLOWED.includes(token);
    const inner = either();
    return tokens[at++] === ')' && inner;
  };
  const both = (): boolean => {
    let all = term();
    while (tokens[at] === 'AND') {
      at++;
      all = term() && all;
    }
    return all;
  };
  const either = (): boolean => {
    let any = both();
    while (tokens[at] === 'OR') {
      at++;
      any = both() || any;
    }
    return any;
  };
  return either() && at === tokens.length;
}

/** One line for each package whose licence is not allowed. */
export function licenceProblems(packages: readonly LockedPackage[]): string[] {
  return packages
    .filter(({ licence }) => !isAllowed(licence))
    .map(({ name, version, licence }) => {
      return `${name}@${version} has ${licence === '' ? 'no licence' : `the licence ${licence}`}, which is not allowed`;
    });
}
