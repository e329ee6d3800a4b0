import { type Refusal, refusal } from './status.ts';

type Labels = Readonly<Record<string, string>>;
export type Selector = (labels: Labels) => boolean;

/** Reads a label selector as the API does. Throws a Refusal (400) for one that it cannot read. */
export function parseSelector(text: string): Selector {
  if (text.trim() === '') return () => true;
  const requirements = text.split(/,(?![^(]*\))/).map((part) => requirement(part.trim()));
  return (labels) => requirements.every((holds) => holds(labels));
}

function requirement(text: string): Selector {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(text);
  if (set !== null) {
    const [, key = '', word, list = ''] = set;
    const values = list.split(',').map((value) => value.trim());
    if (word === 'in') return (labels) => key in labels && values.includes(labels[key] as string);
    return (labels) => !(key in labels) || !values.includes(labels[key] as string);
  }
  const order = /^([^<>=!\s]+)\s*([<>])\s*(-?\d+)$/.exec(text);
  if (order !== null) {
    const [, key = '', sign, number] = order;
    return (labels) =>
      /^-?\d+$/.test(labels[key] ?? '') &&
      (sign === '>' ? Number(labels[key]) > Number(number) : Number(labels[key]) < Number(number));
  }
  const equality = /^([^<>=!\s]+)\s*(==|!=|=)\s*([^<>=!\s]*)$/.exec(text);
  if (equality !== null) {
    const [, key = '', sign, value] = equality;
    return (labels) => (labels[key] === value) === (sign !== '!=');
  }
  const exists = /^(!?)\s*([^<>=!\s]+)$/.exec(text);
  if (exists !== null) return (labels) => (exists[2] as string) in labels === (exists[1] === '');
  const message = `unable to parse requirement: found '${text}'`;
  throw refusal(400, message) satisfies Refusal;
}
