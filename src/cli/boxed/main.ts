import { Console } from 'node:console';
import { Socket } from 'node:net';
import { EXIT } from '../exit-codes.ts';
import { interruptions, reported, watchOutput } from '../output/process-output.ts';
import { processTerminal, redactKeysOf, reportError } from '../output/terminal.ts';
import { BOXED_ACTIONS, TERMINAL_VARIABLES } from './boxed-action.ts';
import type { ShownOutput } from './parent-calls.ts';
import { parentOf } from './parent-calls.ts';
import { GannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import { enterBox } from '../../research/box/enter-box.ts';
import { openPhases, strategyAt } from '../../research/box/phases.ts';
import { refusalMessage } from '../../core/refusals.ts';
import { placeOf } from '../../core/throw-place.ts';
import { strayReason } from '../../core/watched-process.ts';
import { relayedWorkers } from '../../research/box/workers.ts';

// The boxed process of a command that runs strategy code. The process that started it answers on the first descriptor
// and relays to boxed workers on the second. Before them is the pipe on which this process says what strategies do.
const REQUESTS = 4;
const WORKERS = 5;

const parent = parentOf(REQUESTS);
const { call, options, environment, withheld, argv, output: shown } = parent.job();
openPhases();
showAs(process.stdout, shown.out);
showAs(process.stderr, shown.err);
const act = await BOXED_ACTIONS[call.command]();
const redact = await redactKeysOf(argv);
const terminal = processTerminal(options.json, redact);
const { exit } = enterBox({ keep: TERMINAL_VARIABLES });

// Standard output belongs to the command; output of a strategy goes to standard error.
const writeOut = process.stdout.write.bind(process.stdout);
const writeErr = process.stderr.write.bind(process.stderr);
globalThis.console = new Console({ stdout: process.stderr, colorMode: false });
process.stdout.write = writeErr;
const channel = new Socket({ fd: WORKERS, readable: true, writable: true });
channel.on('end', () => { exit(EXIT.failed); });
channel.on('error', () => { exit(EXIT.failed); });
process.on('uncaughtException', (error, origin) => {
  const place = placeOf(error);
  const message = refusalMessage(error);
  exit(reportError(terminal, place === undefined
    ? new GannetError('STRATEGY_INVALID', `an error that no caller could catch, most likely of a strategy: ${message}`)
    : new GannetError('STRATEGY_ASYNC', `${strategyAt(place)}: ${strayReason(origin, message)}, at ${place}`,
      { details: { place } })));
});

const output = watchOutput();
// SIGINT is not among them: by it, the process that started this one asks Node where the code is.
const interrupt = interruptions(output, exit, ['SIGTERM', 'SIGHUP']);
const host = {
  workers: relayedWorkers(channel),
  openTrialLog: () => parent.openTrialLog(),
  syncTrials: (file: string) => { parent.syncTrials(file); },
  backtestDecisions: (until: Millis | undefined) => parent.backtestDecisions(until),
};
const code = await reported({ terminal, output }, () =>
  act({ terminal, options, environment, withheld, interrupt, host }, call));
// One after the other: a strategy may have replaced what `Promise.all` calls.
await drained(writeOut);
await drained(writeErr);
exit(code);

/** Lets a pipe take the form of what the command's own output goes to. */
function showAs(stream: NodeJS.WriteStream, { isTTY, columns }: ShownOutput): void {
  if (isTTY) Object.assign(stream, { isTTY, columns });
}

/** Resolves when all that was written is on its way, or cannot be. */
function drained(write: typeof process.stdout.write): Promise<void> {
  return new Promise((resolve) => { write('', () => { resolve(); }); });
}
