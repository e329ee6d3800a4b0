import { Fault } from '../proxy/ops/fault.ts';

/**
 * A flag that shows less. An empty one, as of a script's variable that is not set, would show everything, which a script
 * may close.
 * @throws Fault `flag-value`
 */
export function filterFlag<Name extends string>(
  name: Name,
  value: string | undefined,
): { [K in Name]?: string } {
  if (value === undefined) return {};
  if (value !== '') return { [name]: value } as { [K in Name]?: string };
  throw new Fault('flag-value', `--${name} is empty`, 'give a value, or leave it out');
}
