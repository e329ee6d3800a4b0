import { type ChildProcess, spawn as startChild } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import { cpuMs, peakRssBytes } from '../process-usage.ts';
import { frameMs } from './frame-time.ts';

const SIZES = [100, 1_000, 5_000];
const COLUMNS = 120;
const ROWS = 40;
/** What issue and docs promise; agents: [CPU of one core in %, memory in MB]. */
const LIMITS: Readonly<Record<number, { readonly cpu: number; readonly mb: number }>> = {
  1000: { cpu: 4, mb: 200 },
  5000: { cpu: 10, mb: 200 },
};
const FIRST_SCREEN_MS = 600;
const KEY_MS = 50;
const KEYS = 40;
const PROGRAM = 'bin/konnectivity-ts.js';

interface Measured {
  readonly firstMs: number;
  readonly keyMs: number;
  readonly cpuPercent: number;
  readonly mb: number;
}

/**
 * Prints what `top` costs at 100, 1,000 and 5,000 agents, a fifth of which changes every second: from its start to the
 * first whole screen, from a key to its change on the screen (p90), CPU at rest, memory, and one frame.
 * @param args `--seconds=N` (20) for the time at rest
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args.find((arg) => arg.startsWith('--seconds='))?.slice(10) ?? 20);
  console.log(`top at ${COLUMNS}x${ROWS}, a fifth of the agents changes every second`);
  console.log('agents  first screen   key (p90)   CPU of a core   memory   one frame');
  for (const agents of SIZES) {
    const { firstMs, keyMs, cpuPercent, mb } = await measure(agents, seconds);
    const limit = LIMITS[agents];
    const cells = [
      String(agents).padStart(6),
      judged(`${firstMs.toFixed(0)} ms`, firstMs <= FIRST_SCREEN_MS),
      judged(`${keyMs.toFixed(0)} ms`, keyMs <= KEY_MS),
      judged(`${cpuPercent.toFixed(1)} %`, limit === undefined || cpuPercent <= limit.cpu),
      judged(`${mb.toFixed(0)} MB`, limit === undefined || mb <= limit.mb),
      `${(await frameMs(agents, COLUMNS, ROWS)).toFixed(1)} ms`,
    ];
    console.log(cells.join('   '));
  }
}

function judged(text: string, good: boolean): string {
  return `${text}${good ? '' : ' MISSED'}`.padStart(11);
}

async function measure(agents: number, seconds: number): Promise<Measured> {
  const path = join(tmpdir(), `kts-bench-top-${process.pid}.sock`);
  rmSync(path, { force: true });
  const service = startChild(
    process.execPath,
    ['--import', 'tsx', 'bench/top/agents-service.ts', String(agents), path],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  let top: ReturnType<typeof spawn> | undefined;
  try {
    await once(service.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    const startMs = performance.now();
    top = spawn(process.execPath, [PROGRAM, 'top', '--admin', `unix://${path}`], {
      name: 'xterm-256color',
      cols: COLUMNS,
      rows: ROWS,
      env: { ...process.env, LC_ALL: 'C.UTF-8', NO_COLOR: '' },
    });
    const written = new Written(top);
    await written.until((text) => text.includes('.example') && text.includes('quit'));
    const firstMs = performance.now() - startMs;
    // What the start left behind is not the rest.
    await sleep(3_000);
    const before = cpuMs(top.pid);
    await sleep(seconds * 1_000);
    const cpuPercent = (cpuMs(top.pid) - before) / (seconds * 10);
    const keys: number[] = [];
    for (let i = 0; i < KEYS; i++) {
      const pressedMs = performance.now();
      // The cursor's mark is written anew.
      const shown = written.until((text) => text.includes(' >'));
      top.write(i % 2 === 0 ? 'j' : 'k');
      await shown;
      keys.push(performance.now() - pressedMs);
      await sleep(90);
    }
    keys.sort((a, b) => a - b);
    return { firstMs, keyMs: keys[Math.floor(KEYS * 0.9)] ?? 0, cpuPercent, mb: peakRssBytes(top.pid) / 1e6 };
  } finally {
    const ended = once(service, 'exit');
    top?.kill('SIGKILL');
    service.kill();
    await ended;
    rmSync(path, { force: true });
  }
}

/** What the program writes, from a look on. */
class Written {
  #text = '';
  #look: (() => void) | undefined;

  constructor(pty: ReturnType<typeof spawn>) {
    pty.onData((text) => {
      this.#text += text;
      this.#look?.();
    });
  }

  until(matches: (text: string) => boolean): Promise<void> {
    this.#text = '';
    return new Promise((resolve) => {
      this.#look = () => {
        if (!matches(this.#text)) return;
        this.#look = undefined;
        resolve();
      };
    });
  }
}
