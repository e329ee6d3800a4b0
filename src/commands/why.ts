import { adminJson } from '../proxy/admin/model/admin-json.ts';
import { ageText, bytesText, sinceText } from '../proxy/admin/model/amounts.ts';
import type { Selection } from '../proxy/admin/model/selection.ts';
import type { Tunnel } from '../proxy/admin/model/tunnel.ts';
import type { AdminFlags } from './admin-flags.ts';
import { checkDestination } from './check-destination.ts';
import type { ExitCode } from './exit-code.ts';
import type { TableFit } from './fit-table.ts';
import type { CommandIo } from './io.ts';
import { type Operator, type OperatorTools, operate } from './operator.ts';
import { askSelections } from './select.ts';
import { indented, indentedFit, selectionText } from './selection-text.ts';
import { formatTable } from './table.ts';
import { endText } from './tunnel-rows.ts';

export interface WhyFlags extends AdminFlags {
  readonly output?: 'json';
}

/** What a narrow terminal does without. */
const GIVES_WAY: Pick<TableFit, 'shorten' | 'drop'> = {
  shorten: [
    ['CLIENT', 9],
    ['WHAT CAME OF IT', 40],
    ['AGENT', 12],
  ],
  drop: ['DIAL-ID', 'CLIENT'],
};

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
        operator.print(
          selections
            .map((one) => `${selectionText(one, operator)}${historyText(operator, one, nowMs)}`)
            .join('\n'),
        );
      }
      return code;
    },
    tools,
    { check: () => checkDestination(target) },
  );
}

function historyText(operator: Operator, { history, target }: Selection, nowMs: number): string {
  if (history.length === 0) return `  no dial to ${target} is remembered\n`;
  const rows = history.map((tunnel) => [
    `${sinceText(tunnel.since, nowMs)} ago`,
    tunnel.agent || '-',
    tunnel.client || '-',
    outcomeText(tunnel),
    tunnel.dialId,
  ]);
  const head = ['DIALLED', 'AGENT', 'CLIENT', 'WHAT CAME OF IT', 'DIAL-ID'];
  return indented(formatTable(head, rows, indentedFit(operator.fit(GIVES_WAY))));
}

function outcomeText(tunnel: Tunnel): string {
  const bytes = `${bytesText(tunnel.bytesToNode)} to the node, ${bytesText(tunnel.bytesFromNode)} from it`;
  if (tunnel.closeReason === undefined) return `runs, ${bytes}`;
  if (tunnel.closeReason === 'dial-failed') return endText(tunnel);
  return `${endText(tunnel)} after ${ageText(tunnel.ageSeconds)}, ${bytes}`;
}
