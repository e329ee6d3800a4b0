import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Fault } from './fault.ts';
import { type LabelledFile, named } from './pem-file.ts';

/** Tokens have one or two KiB; what HTTP/2 servers take as a header is not much more than this. */
const MOST_BYTES = 16 * 1024;

/**
 * The bearer token in a file, without the white space around it. Messages never hold any of its contents.
 * @throws Fault `token-missing`, `token-unreadable`, `token-too-large`, `token-empty`, `token-malformed`
 */
export async function readTokenFile(file: LabelledFile): Promise<string> {
  const text = (await readBounded(file)).trim();
  const where = named(file);
  if (text === '') {
    throw new Fault('token-empty', `${where} is empty`, 'check who writes the token into it');
  }
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  const what = /[\r\n]/.test(text)
    ? 'has more than one line'
    : 'has characters that a token cannot have (white space, or not ASCII)';
  throw new Fault('token-malformed', `${where} ${what}`, 'it must hold one token and nothing else');
}

async function readBounded(file: LabelledFile): Promise<string> {
  const where = named(file);
  try {
    // A FIFO named by mistake must not block a thread.
    const handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) {
        throw new Fault('token-unreadable', `${where} is not a regular file`, 'give the file with the token');
      }
      const buffer = Buffer.alloc(MOST_BYTES + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (bytesRead === 0 || length > MOST_BYTES) break;
      }
      if (length <= MOST_BYTES) return buffer.toString('latin1', 0, length);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw cause instanceof Fault ? cause : fileFault(where, cause as NodeJS.ErrnoException);
  }
  throw new Fault('token-too-large', `${where} is larger than ${MOST_BYTES} bytes`, 'it is no token file');
}

function fileFault(where: string, cause: NodeJS.ErrnoException): Fault {
  switch (cause.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new Fault('token-missing', `${where} does not exist`, 'check the path, and the volume', cause);
    case 'EACCES':
    case 'EPERM':
      return new Fault('token-unreadable', `no permission to read ${where}`, 'check owner and mode', cause);
    default:
      return new Fault(
        'token-unreadable',
        `${where} cannot be read: ${cause.code ?? cause.message}`,
        '',
        cause,
      );
  }
}
