import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { tradingText } from '../../output/status-text.ts';
import { GannetError, isGannetError, messageOf } from '../../../core/errors.ts';
import { parseDuration } from '../../../core/time.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import type { OperatorAction } from '../../../daemon/control/operator-commands.ts';
import type { TradingView } from '../../../daemon/control/trading-view.ts';
import { stopFileOf } from '../../../daemon/watch/stop-file.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { wait } from '../../../execution/monotonic-time.ts';

/** A daemon of an older version reports neither `unsold` nor `pauses`. */
type ReportedView = Omit<TradingView, 'unsold' | 'pauses'> & Partial<Pick<TradingView, 'unsold' | 'pauses'>>;

const POLL_MS = 500;

interface FlattenFlags {
  readonly wait?: string | undefined;
}

interface OperatorFlags {
  readonly strategy?: string | undefined;
  readonly reason?: string | undefined;
}

const WORDS: readonly (readonly [word: OperatorAction, description: string])[] = [
  ['halt', 'halts the running daemon’s trading at once: no entries, no exits; open swaps are completed'],
  ['reduce-only', 'allows the running daemon exits only'],
  ['flatten', 'sells the strategies’ holdings into the tokens of their budgets, and reports what is not sold; '
    + 'entries stay stopped until "gannet resume"'],
  ['resume', 'allows the running daemon to trade again, and ends a flatten; with a pair or a strategy, ends its pause'],
];

export const operatorCommands: CommandModule = (program, run) => {
  for (const [word, description] of WORDS) {
    const command = program.command(word)
      .description(description)
      .option('--strategy <name>', 'only this strategy')
      .option('--reason <text>', 'the reason, for the log and the recording');
    if (word === 'flatten') {
      command.option('--wait <duration>', 'the longest time to wait for the swaps of the sale', '1m');
    }
    if (word === 'resume') {
      command.argument('[what]', 'a paused pair or strategy, to end its pause')
        .action(run((context, what: string | undefined, flags: OperatorFlags) => resume(context, what, flags)));
    } else {
      command.action(run((context, flags: OperatorFlags & FlattenFlags) => order(context, word, flags)));
    }
  }
  program.command('pause <pair-or-strategy>')
    .description('refuses entries into a pair such as SOL/USDC, or of a strategy, in the running daemon; sales go on')
    .addHelpText('after', example('gannet pause SOL/USDC --for 2h'))
    .option('--for <duration>', 'ends by itself after this time (default: "gannet resume" ends it)')
    .option('--reason <text>', 'the reason, for the log and the recording')
    .action(run((context, what: string, flags: PauseFlags) => pause(context, '/api/pause', { what, ...flags })));
};

interface PauseFlags {
  readonly for?: string | undefined;
  readonly reason?: string | undefined;
}

async function pause(
  context: CommandContext, path: '/api/pause' | '/api/unpause', body: PauseFlags & { readonly what: string },
): Promise<ExitCode> {
  const view = await daemonClient(context).post(path, body) as unknown as ReportedView;
  context.terminal.result(view, () => tradingText(view));
  return EXIT.done;
}

/** With the name of a pair or of a paused strategy it ends that pause, else it lets a strategy or all trade again. */
async function resume(context: CommandContext, what: string | undefined, flags: OperatorFlags): Promise<ExitCode> {
  if (what === undefined) return order(context, 'resume', flags);
  if (flags.strategy !== undefined)
    throw new GannetError('USAGE', 'expected a pause to end, or --strategy NAME, got both');
  return pause(context, '/api/unpause', { what, reason: flags.reason });
}

async function order(
  context: CommandContext, word: OperatorAction, flags: OperatorFlags & FlattenFlags,
): Promise<ExitCode> {
  const { terminal } = context;
  const { wait: waitText, ...body } = flags;
  const waitMs = waitText === undefined ? 0 : parseDuration(waitText);
  const first = await postOrder(context, word, body);
  const view = word === 'flatten' ? await watchSale(context, first, waitMs) : first;
  terminal.result(view, () => tradingText(view, { isSale: word === 'flatten' }));
  // A flatten has succeeded only when nothing is left.
  return word === 'flatten' && (view.unsold?.length ?? 0) > 0 ? EXIT.failed : EXIT.done;
}

/** Returns the status once every swap of the sale is completed, or the wait is over. */
async function watchSale(context: CommandContext, first: ReportedView, waitMs: number): Promise<ReportedView> {
  const daemon = daemonClient(context);
  const giveUpAt = systemClock.now() + waitMs;
  let view = first;
  const isMoving = (): boolean => view.unsold?.some(({ moving }) => moving) === true;
  while (isMoving() && systemClock.now() < giveUpAt && !context.interrupt.aborted) {
    await wait(systemClock, POLL_MS);
    const state = await daemon.get('/api/state') as Readonly<Record<string, unknown>>;
    view = Object.fromEntries(Object.keys(first).map((key) => [key, state[key]])) as unknown as ReportedView;
  }
  return view;
}

async function postOrder(context: CommandContext, word: OperatorAction, body: OperatorFlags): Promise<ReportedView> {
  try {
    return await daemonClient(context).post(`/api/${word}`, body) as unknown as ReportedView;
  } catch (error) {
    if (word !== 'halt' || !isGannetError(error) || error.code !== 'CONTROL_UNREACHABLE') throw error;
    const { path } = stopFileOf(context.options.stateDir);
    throw new GannetError(
      'CONTROL_UNREACHABLE',
      `${messageOf(error)}. A file named ${path} halts a running daemon within a second, and the next one before it `
        + 'trades',
      { cause: error },
    );
  }
}
