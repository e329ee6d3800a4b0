import { Fault } from '../../ops/fault.ts';

/** A value that makes no sense: INVALID_ARGUMENT. */
export function badRequest(message: string, remedy: string): Fault {
  return new Fault('admin-bad-request', message, remedy);
}

/** What is not there: NOT_FOUND. */
export function notFound(message: string, remedy: string): Fault {
  return new Fault('admin-not-found', message, remedy);
}

/** The size of a page. @throws Fault `admin-bad-request` for a negative one */
export function pageSize(asked: number, otherwise: number, most: number): number {
  if (asked < 0)
    throw badRequest(`a page size of ${asked} is none`, `give 1 to ${most}, or 0 for ${otherwise}`);
  return asked === 0 ? otherwise : Math.min(asked, most);
}

/** A short form of what a client sent, for texts: it may send anything. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}
