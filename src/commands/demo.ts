import { Fault } from '../proxy/ops/fault.ts';
import { tellDrainStory } from './demo/drain-story.ts';
import { runLive } from './demo/live.ts';
import { runOnce } from './demo/once.ts';
import { type Scene, setScene } from './demo/scene.ts';
import type { DemoFlags } from './demo-flags.ts';
import type { CommandIo } from './io.ts';

const FAILED = 1;
const USAGE = 2;
const INTERRUPTED = 130;
const HUNG_UP = 129;
const LEAST_SECONDS = 8;
const MOST_SECONDS = 3_600;

/**
 * `konnectivity-ts demo`: server, agents and traffic on this machine. Leaves no process, socket or file.
 * @returns the exit code; 0 also when the demo without end was interrupted
 */
export async function demo(flags: DemoFlags, io: CommandIo): Promise<number> {
  const seconds = /^\d{1,5}$/.test(flags.seconds) ? Number(flags.seconds) : 0;
  if (seconds < LEAST_SECONDS || seconds > MOST_SECONDS) {
    io.stderr.write(
      `konnectivity-ts: --seconds ${flags.seconds} is no length; give ${LEAST_SECONDS} to ${MOST_SECONDS}\n`,
    );
    return USAGE;
  }
  // The scene is swept when the process exits, too.
  io.killed.addEventListener('abort', () => process.exit(INTERRUPTED));
  io.stdout.on('error', () => process.exit(FAILED));
  process.once('SIGHUP', () => process.exit(HUNG_UP));
  const endless = flags.once === undefined && flags.story === undefined;
  let scene: Scene | undefined;
  try {
    scene = await setScene(io.interrupted);
    if (flags.once) return await runOnce(scene, io);
    if (flags.story !== undefined) return await tellDrainStory(scene, seconds, io);
    return await runLive(scene, io);
  } catch (error) {
    if (io.interrupted.aborted) return endless ? 0 : INTERRUPTED;
    if (!(error instanceof Fault)) throw error;
    io.stderr.write(`konnectivity-ts: ${error.line}\n`);
    return FAILED;
  } finally {
    await scene?.close();
  }
}
