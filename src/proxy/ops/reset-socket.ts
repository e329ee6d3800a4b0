import type { Socket } from 'node:net';

/**
 * Closes a TCP socket by a reset, and drops what is unsent. Node loses the handle of a socket that it resets while its
 * end is under way (EINVAL: the descriptor stays open for good, 'close' never comes): such a one is reset right behind
 * its end.
 */
export function resetSocket(socket: Socket): void {
  // With bytes unsent the end waits for them, and has not begun.
  const ending = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (socket.connecting || socket.destroyed) socket.destroy();
  else if (ending) socket.once('finish', () => socket.resetAndDestroy());
  else socket.resetAndDestroy();
}
