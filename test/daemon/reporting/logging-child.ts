import type { LogLevel } from '../../../src/daemon/reporting/log-levels.ts';
import { createLog } from '../../../src/daemon/reporting/log.ts';

/** Logs at the level and in the folder that it is given: two lines, one for the file alone, or none at all. */
const [level, stateDir, what] = process.argv.slice(2) as [LogLevel, string, string | undefined];
const { log, keep, close } = createLog({ level, secrets: [], terminal: true, file: { stateDir, name: 'run' } });
if (what !== 'nothing') {
  log('info', 'told elsewhere', { state: 'halted', strategy: undefined });
  log('warn', 'odd', { strategy: undefined, port: 7 });
}
if (what === 'kept') keep('warn', 'decision', { strategy: 'dca', amount: 1n });
await close();
