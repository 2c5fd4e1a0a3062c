import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { parseDuration } from '../core/time.ts';
import type { OperatorWord } from '../daemon/operator.ts';
import { stopFileOf } from '../daemon/stop-file.ts';
import { systemClock } from '../daemon/system-clock.ts';
import type { TradingView } from '../daemon/trading-board.ts';
import { wait } from '../execution/wait.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { daemonClient } from './daemon-client.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { tradingText } from './trading-table.ts';

/** A daemon of an older version does not say what is unsold. */
type ToldView = Omit<TradingView, 'unsold'> & Partial<Pick<TradingView, 'unsold'>>;

const LOOK_EVERY_MS = 500;

interface FlattenFlags {
  readonly wait?: string | undefined;
}

interface OperatorFlags {
  readonly strategy?: string | undefined;
  readonly reason?: string | undefined;
}

const WORDS: readonly (readonly [word: OperatorWord, description: string])[] = [
  ['halt', 'stops the running daemon’s trading at once: no entry, no exit; what is under way is still followed to its end'],
  ['reduce-only', 'lets the running daemon exit, and enter nothing'],
  ['flatten', 'sells what strategies hold back into their budgets’ tokens, and says what could not be sold; '
    + 'nothing is entered until it is resumed'],
  ['resume', 'lets the running daemon trade again, and ends a flattening'],
];

export const operatorCommands: CommandModule = (program, run) => {
  for (const [word, description] of WORDS) {
    const command = program.command(word)
      .description(description)
      .option('--strategy <name>', 'one strategy alone')
      .option('--reason <text>', 'why: kept in the log and the recording');
    if (word === 'flatten') {
      command.option('--wait <duration>', 'how long to wait for the swaps of the sale before saying what is not sold', '1m');
    }
    command.action(run((context, flags: OperatorFlags & FlattenFlags) => order(context, word, flags)));
  }
};

async function order(context: CommandContext, word: OperatorWord, flags: OperatorFlags & FlattenFlags): Promise<ExitCode> {
  const { terminal } = context;
  const { wait: waitText, ...body } = flags;
  const waitMs = waitText === undefined ? 0 : parseDuration(waitText);
  const first = await postOrder(context, word, body);
  const view = word === 'flatten' ? await watchSale(context, first, waitMs) : first;
  terminal.result(view, () => tradingText(view, { isSale: word === 'flatten' }));
  // What was asked for came true only where nothing is left.
  return word === 'flatten' && (view.unsold?.length ?? 0) > 0 ? EXIT.failed : EXIT.done;
}

/** Returns what holds once no swap of the sale is under way any more, or the wait is over. */
async function watchSale(context: CommandContext, first: ToldView, waitMs: number): Promise<ToldView> {
  const daemon = daemonClient(context);
  const giveUpAt = systemClock.now() + waitMs;
  let view = first;
  const isMoving = (): boolean => view.unsold?.some(({ moving }) => moving) === true;
  while (isMoving() && systemClock.now() < giveUpAt && !context.interrupt.aborted) {
    await wait(systemClock, LOOK_EVERY_MS);
    const state = await daemon.get('/api/state') as Readonly<Record<string, unknown>>;
    view = Object.fromEntries(Object.keys(first).map((key) => [key, state[key]])) as unknown as ToldView;
  }
  return view;
}

async function postOrder(context: CommandContext, word: OperatorWord, body: OperatorFlags): Promise<ToldView> {
  try {
    return await daemonClient(context).post(`/api/${word}`, body) as unknown as ToldView;
  } catch (error) {
    if (word !== 'halt' || !isGannetError(error) || error.code !== 'CONTROL_UNREACHABLE') throw error;
    const { path } = stopFileOf(context.options.stateDir);
    throw new GannetError('CONTROL_UNREACHABLE', `${messageOf(error)}. A file named ${path} halts the next one before it trades, and one that runs within a second`, { cause: error });
  }
}
