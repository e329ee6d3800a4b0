import { adminJson } from '../proxy/admin/model/admin-json.ts';
import { ageText, bytesText, sinceText } from '../proxy/admin/model/amounts.ts';
import type { Selection } from '../proxy/admin/model/selection.ts';
import type { Tunnel } from '../proxy/admin/model/tunnel.ts';
import type { AdminFlags } from './admin-flags.ts';
import type { ExitCode } from './exit-code.ts';
import type { CommandIo } from './io.ts';
import { type OperatorTools, operate } from './operator.ts';
import { askSelections } from './select.ts';
import { selectionText } from './selection-text.ts';
import { formatTable } from './table.ts';
import { endText } from './tunnel-rows.ts';

export interface WhyFlags extends AdminFlags {
  readonly output?: 'json';
}

/** Dials and ends of the destination that are shown. */
const HISTORY = 10;

/** `konnectivity-ts why`: what a dial would meet now, and what the last ones met. @returns the exit code */
export function why(
  target: string,
  flags: WhyFlags,
  io: CommandIo,
  tools?: OperatorTools,
): Promise<ExitCode> {
  return operate(
    flags,
    io,
    async (operator) => {
      const { selections, code } = await askSelections(operator, { target, history: HISTORY });
      if (flags.output === 'json') {
        operator.print(`${adminJson(selections.length === 1 ? selections[0] : selections, 2)}\n`);
      } else {
        const nowMs = operator.clock.wallMs();
        operator.print(selections.map((one) => `${selectionText(one)}${historyText(one, nowMs)}`).join('\n'));
      }
      return code;
    },
    tools,
  );
}

function historyText({ history, target }: Selection, nowMs: number): string {
  if (history.length === 0) return `  no dial to ${target} is remembered\n`;
  const rows = history.map((tunnel) => [
    `${sinceText(tunnel.since, nowMs)} ago`,
    tunnel.agent || '-',
    tunnel.client || '-',
    outcomeText(tunnel),
    tunnel.dialId,
  ]);
  const table = formatTable(['DIALLED', 'AGENT', 'CLIENT', 'WHAT CAME OF IT', 'DIAL-ID'], rows);
  return table.replace(/^(?=.)/gm, '  ');
}

function outcomeText(tunnel: Tunnel): string {
  const bytes = `${bytesText(tunnel.bytesToNode)} to the node, ${bytesText(tunnel.bytesFromNode)} from it`;
  if (tunnel.closeReason === undefined) return `runs, ${bytes}`;
  if (tunnel.closeReason === 'dial-failed') return endText(tunnel);
  return `${endText(tunnel)} after ${ageText(tunnel.ageSeconds)}, ${bytes}`;
}
