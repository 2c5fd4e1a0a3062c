import type { LogLevel } from '../../src/daemon/log.ts';
import { createLog } from '../../src/daemon/log.ts';

/** Logs two lines, of which one is told elsewhere too, at the level and in the folder that it is given. */
const [level, stateDir] = process.argv.slice(2) as [LogLevel, string];
const { log, close } = createLog({ level, secrets: [], terminal: true, file: { stateDir, name: 'run' } });
log('info', 'told elsewhere', { state: 'halted', strategy: undefined });
log('warn', 'odd', { strategy: undefined, port: 7 });
await close();
