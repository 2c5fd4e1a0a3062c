import type { DaemonWindow } from './daemon-rows.ts';
import { measureDaemon } from './daemon-rows.ts';
import type { BenchRow } from './measurement.ts';
import { measured } from './measurement.ts';
import { PAGE_LOAD } from './page-load.ts';

/** The daemon of PAGE_LOAD: the delay of its event loop, and the memory of its processes. */
export const PAGE_ROWS: readonly BenchRow[] = [
  { name: 'page-loop-delay', measure: async () =>
    measured('page-loop-delay', 'ms', (await windows()).map(({ loopDelayP99Ms }) => loopDelayP99Ms)) },
  { name: 'page-pss', measure: async () =>
    measured('page-pss', 'MB', (await windows()).map(({ pssMb }) => pssMb)) },
];

let known: Promise<DaemonWindow[]> | undefined;

function windows(): Promise<DaemonWindow[]> {
  known ??= measureDaemon(PAGE_LOAD);
  return known;
}
