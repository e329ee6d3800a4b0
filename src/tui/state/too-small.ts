import type { TopState } from './top-state.ts';

export const LEAST_COLUMNS = 40;
export const LEAST_ROWS = 8;

/** Whether the screen shows the counts alone: neither rows nor dialogs, so that keys would work unseen. */
export function isTooSmall({ columns, rows }: Pick<TopState, 'columns' | 'rows'>): boolean {
  return columns < LEAST_COLUMNS || rows < LEAST_ROWS;
}
