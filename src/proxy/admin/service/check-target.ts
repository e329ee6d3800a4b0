import { isIPv6 } from 'node:net';
import { badRequest, quoted } from './requests.ts';

const MOST_CHARACTERS = 1_024;
const REMEDY = 'give host:port, or a host';

/** The target of a dry run: what a dial could be for. @throws Fault `admin-bad-request` */
export function checkTarget(target: string): void {
  const bad = (why: string): Error => badRequest(`the target ${quoted(target)} ${why}`, REMEDY);
  if (target === '' || target.length > MOST_CHARACTERS) throw bad('is none');
  // An IPv6 address has its port behind brackets only.
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([^:]*))?$/.exec(target);
  if (match === null) {
    if (!isIPv6(target)) throw bad('is none');
    return;
  }
  const [, bracketed, plain = '', port] = match;
  if (bracketed !== undefined ? !isIPv6(bracketed) : !/^[^\s\u0000-\u001f\u007f]+$/.test(plain)) {
    throw bad(bracketed === undefined && plain === '' ? 'has no host' : 'has no valid host');
  }
  if (port === undefined) return;
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65_535) throw bad('has no port from 1 to 65535');
}
