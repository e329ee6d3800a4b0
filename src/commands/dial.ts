import type { Duplex } from 'node:stream';
import { type DialTunnelOptions, dialTunnel } from '../proxy/client/dial-tunnel.ts';
import { isDialFault, tunnelLost } from '../proxy/client/tunnel-faults.ts';
import { Fault, oneLine } from '../proxy/ops/fault.ts';
import type { DialFlags } from './dial-flags.ts';
import { dialTarget } from './dial-target.ts';
import type { CommandIo } from './io.ts';
import { relay } from './relay.ts';

const FAILED = 1;
const USAGE = 2;
const UNREACHABLE = 5;
const INTERRUPTED = 130;

/**
 * `konnectivity-ts dial`: stdin -> tunnel -> stdout.
 * @returns the exit code
 */
export async function dial(address: string, flags: DialFlags, io: CommandIo): Promise<number> {
  const complain = (fault: Fault): void => {
    io.stderr.write(`konnectivity-ts: ${fault.line}\n`);
  };
  io.stderr.on('error', () => {});
  const startMs = performance.now();
  const say = (text: string): void => {
    if (!flags.verbose) return;
    const ms = (performance.now() - startMs).toFixed(1);
    io.stderr.write(`${ms.padStart(9)} ms  ${oneLine(text)}\n`);
  };
  let target: ReturnType<typeof dialTarget>;
  try {
    target = dialTarget(address, flags);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    complain(error);
    return USAGE;
  }
  let tunnel: Duplex;
  try {
    tunnel = await dialTunnel({ ...target, signal: io.interrupted, onStep: ({ text }) => say(text) });
  } catch (error) {
    if (io.interrupted.aborted) return INTERRUPTED;
    if (!(error instanceof Fault)) throw error;
    complain(error);
    return isDialFault(error) ? FAILED : UNREACHABLE;
  }
  return await carry(tunnel, target, flags, io, say, complain);
}

async function carry(
  tunnel: Duplex,
  { address }: Pick<DialTunnelOptions, 'address'>,
  flags: DialFlags,
  io: CommandIo,
  say: (text: string) => void,
  complain: (fault: Fault) => void,
): Promise<number> {
  try {
    const end = await relay(tunnel, {
      input: io.stdin,
      output: io.stdout,
      endWithInput: flags.shutdown === true,
      signal: io.interrupted,
      onFirstByte: () => say(`first byte from ${address}`),
    });
    const how = {
      peer: 'ended by the other side',
      'reader-gone': 'ended: nobody reads our output',
      interrupted: 'interrupted',
    }[end.cause];
    say(`${how}; ${end.bytesSent} bytes sent, ${end.bytesReceived} received`);
    return end.cause === 'interrupted' ? INTERRUPTED : 0;
  } catch (error) {
    complain(tunnelLost(error, address));
    return FAILED;
  }
}
