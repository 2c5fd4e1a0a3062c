import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { Option } from 'commander';
import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { durationFlag, wholeNumber } from '../../input/flags.ts';
import { clockTime } from '../../output/figures.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable, printableJson } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { humanLine } from '../../../daemon/reporting/log.ts';
import type { LogLevel } from '../../../daemon/reporting/log-levels.ts';
import { LOG_LEVELS } from '../../../daemon/reporting/log-levels.ts';
import type { LogFilter, LogLine } from '../../../daemon/reporting/read-log.ts';
import { followLogs, loggedRuns, tailOf } from '../../../daemon/reporting/read-log.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';

interface LogsFlags {
  readonly follow?: boolean;
  readonly level?: LogLevel;
  readonly strategy?: string;
  readonly since?: Millis;
  readonly run?: string;
  readonly lines: number;
}

const LINES = 200;
const LINES_MAX = 100_000;
const CHECK_EVERY_MS = 250;
/** What a person reads of a line; `--json` has all of it. */
const SHOWN = 400;
/** What a person wants to know first of an event. */
const FIRST = ['strategy', 'intent_id', 'state', 'verdict', 'code', 'reason', 'error'] as const;
/** The time stands before the line. Addresses, signatures, hashes and numbers are in `--json` and `journal show`. */
const UNSHOWN: ReadonlySet<string> = new Set([
  ...FIRST, 'timestamp', 'level', 'at', 'h', 'seq', 'run_id', 'input_mint', 'output_mint', 'signature', 'proposal',
]);
const COLOURS = { error: 'red', warn: 'yellow', info: 'green', debug: 'gray' } as const;

export const logsCommand: CommandModule = (program, run) => {
  program.command('logs')
    .description('the log of the daemon of this state directory, also of runs that have ended')
    .option('-f, --follow', 'goes on with new lines, over restarts, until Ctrl-C', false)
    .addOption(new Option('--level <level>', 'the least severe lines to show').choices(LOG_LEVELS))
    .option('--strategy <name>', 'only lines of this strategy')
    .option('--since <duration>', 'only lines of this span before now, such as 2h', durationFlag)
    .option('--run <id>', 'only the log of this run')
    .option('-n, --lines <count>', 'the number of lines from the end', wholeNumber(0, LINES_MAX), LINES)
    .action(run(logs));
};

async function logs(context: CommandContext, flags: LogsFlags): Promise<ExitCode> {
  const { options: { stateDir }, interrupt } = context;
  const { follow = false, level, strategy, since, run, lines: count } = flags;
  const filter: LogFilter = {
    level, strategy, since: since === undefined ? undefined : systemClock.now() - since,
  };
  const runs = loggedRuns(stateDir).filter((name) => run === undefined || name === run);
  if (run !== undefined && runs.length === 0)
    throw new GannetError(
      'RUN_NOT_FOUND', `${stateDir} holds no log of the run ${printable(run)}: ${knownRuns(stateDir)}`,
    );
  if (runs.length === 0 && !follow) throw new GannetError('RUN_NOT_FOUND',
    `${stateDir} holds no log yet: start the daemon with "gannet run", or name its folder with --state-dir`);
  const newest = runs.at(-1);
  const shown: LogLine[] = [];
  let readTo = 0;
  // The newest log first, then older ones until there are enough lines.
  for (const name of runs.toReversed()) {
    const tail = tailOf(stateDir, name, { count: count - shown.length, filter });
    if (name === newest) ({ readTo } = tail);
    shown.unshift(...tail.lines);
    if (shown.length >= count) break;
  }
  for (const line of shown) print(context, line);
  if (!follow) return EXIT.done;
  const follower = followLogs(stateDir, { run: newest, readTo, filter, staysWith: run !== undefined });
  while (!interrupt.aborted) {
    for (const line of follower.next()) print(context, line);
    await pause(CHECK_EVERY_MS, undefined, { signal: interrupt }).catch(() => undefined);
  }
  follower.close();
  return EXIT.done;
}

const RUNS_SHOWN = 5;

function knownRuns(stateDir: string): string {
  const names = loggedRuns(stateDir).slice(-RUNS_SHOWN).reverse();
  return names.length === 0 ? 'it has none yet' : `the newest are ${printable(names.join(', '), SHOWN)}`;
}

/** A decision has its reason in its proposal. */
function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Texts of strategies and services are in the log: they are made safe again, since other programs may write there. */
function print({ terminal }: CommandContext, { text: whole, entry }: LogLine): void {
  if (terminal.json) {
    const document = entry === undefined ? JSON.stringify({ message: printable(whole, SHOWN) }) : printableJson(whole);
    terminal.out(`${document}\n`);
    return;
  }
  if (entry === undefined) {
    terminal.out(`${printable(whole, SHOWN)}\n`);
    return;
  }
  const { timestamp, level } = entry;
  const shown = [
    ...FIRST.map((name) => [name, entry[name] ?? memberOf(entry['proposal'], name)] as const),
    ...Object.entries(entry).filter(([name]) => !UNSHOWN.has(name)),
  ];
  const rest = Object.fromEntries(shown.filter(([, value]) => value !== null && value !== undefined));
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : NaN;
  const known = LOG_LEVELS.find((one) => one === level);
  const text = printable(humanLine({ ...rest, level: typeof level === 'string' ? level : '' }), SHOWN);
  const line = `${Number.isNaN(at) ? '' : `${clockTime(at)}  `}${text}\n`;
  terminal.out(terminal.colour && known !== undefined
    ? line.replace(known, styleText(COLOURS[known], known, { validateStream: false })) : line);
}
