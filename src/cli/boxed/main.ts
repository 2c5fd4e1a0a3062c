import { Console } from 'node:console';
import { Socket } from 'node:net';
import { EXIT } from '../exit-codes.ts';
import { interruptions, reported, watchOutput } from '../output/process-output.ts';
import { processTerminal, redactKeysOf, reportError } from '../output/terminal.ts';
import { BOXED_ACTIONS, TERMINAL_VARIABLES } from './boxed-action.ts';
import { parentOf } from './parent-calls.ts';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { enterBox } from '../../research/box/enter-box.ts';
import { refusalMessage } from '../../core/refusals.ts';
import { relayedWorkers } from '../../research/box/workers.ts';

// The boxed process of a command that runs strategy code. The process that started it answers on the first descriptor
// and relays to boxed workers on the second.
const REQUESTS = 3;
const WORKERS = 4;

const parent = parentOf(REQUESTS);
const { call, options, environment, withheld, argv } = parent.job();
const act = await BOXED_ACTIONS[call.command]();
const redact = await redactKeysOf(argv);
const terminal = processTerminal(options.json, redact);
const { exit } = enterBox({ keep: TERMINAL_VARIABLES });

// Standard output belongs to the command; output of a strategy goes to standard error.
globalThis.console = new Console(process.stderr);
const channel = new Socket({ fd: WORKERS, readable: true, writable: true });
channel.on('end', () => { exit(EXIT.failed); });
channel.on('error', () => { exit(EXIT.failed); });
process.on('uncaughtException', (error) => {
  exit(reportError(terminal, new GannetError('STRATEGY_INVALID',
    `an error that no caller could catch, most likely of a strategy: ${refusalMessage(error)}`)));
});

const output = watchOutput();
const interrupt = interruptions(output, exit);
const host = {
  workers: relayedWorkers(channel),
  openTrialLog: () => parent.openTrialLog(),
  syncTrials: (file: string) => { parent.syncTrials(file); },
  backtestDecisions: (until: Millis | undefined) => parent.backtestDecisions(until),
};
exit(await reported({ terminal, output }, () =>
  act({ terminal, options, environment, withheld, interrupt, host }, call)));
