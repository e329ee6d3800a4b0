import { createHash } from 'node:crypto';
import { hostOf } from './agent-process.ts';
import { type Answer, requestThrough } from './request.ts';
import type { Scene } from './scene.ts';
import { bigBytes } from './target.ts';

/** A slow download through one agent. */
export interface Download {
  readonly totalBytes: number;
  /** So far. */
  receivedBytes: number;
  /** Resolves when it is under way. */
  readonly begun: Promise<string>;
  /** Resolves at its end with whether every byte came as it was sent. Rejects with a Fault. */
  readonly ended: Promise<Answer & { readonly whole: boolean }>;
}

/** Starts to download `totalBytes` at `bytesPerSecond` from the destination that belongs to an agent. */
export function startDownload(
  scene: Scene,
  id: string,
  totalBytes: number,
  bytesPerSecond: number,
  signal: AbortSignal,
): Download {
  const hash = createHash('sha256');
  let tellBegun: (agentId: string) => void = () => {};
  let tellFailed: (error: unknown) => void = () => {};
  const begun = new Promise<string>((resolve, reject) => {
    tellBegun = resolve;
    tellFailed = reject;
  });
  const answer = requestThrough(scene, {
    via: scene.tls,
    host: hostOf(id),
    path: `/big?n=${totalBytes}&rate=${bytesPerSecond}`,
    signal,
    onTunnel: tellBegun,
    onBody: (chunk) => {
      download.receivedBytes += chunk.length;
      hash.update(chunk);
    },
  });
  answer.catch(tellFailed);
  begun.catch(() => {});
  const download = {
    totalBytes,
    receivedBytes: 0,
    begun,
    ended: answer.then((end) => ({ ...end, whole: hash.digest('hex') === expectedSha256(totalBytes) })),
  };
  download.ended.catch(() => {});
  return download;
}

function expectedSha256(totalBytes: number): string {
  const hash = createHash('sha256');
  const step = 1024 * 1024;
  for (let at = 0; at < totalBytes; at += step) hash.update(bigBytes(at, Math.min(step, totalBytes - at)));
  return hash.digest('hex');
}
