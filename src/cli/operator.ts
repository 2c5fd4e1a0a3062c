import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { OperatorWord } from '../daemon/operator.ts';
import { stopFileOf } from '../daemon/stop-file.ts';
import type { TradingView } from '../daemon/trading-board.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { daemonClient } from './daemon-client.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { tradingText } from './trading-table.ts';

interface OperatorFlags {
  readonly strategy?: string | undefined;
  readonly reason?: string | undefined;
}

const WORDS: readonly (readonly [word: OperatorWord, description: string])[] = [
  ['halt', 'stops the running daemon’s trading at once: no entry, no exit; what is under way is still followed to its end'],
  ['reduce-only', 'lets the running daemon exit, and enter nothing'],
  ['flatten', 'sells what strategies hold back into their budgets’ tokens; nothing is entered until it is resumed'],
  ['resume', 'lets the running daemon trade again, and ends a flattening'],
];

export const operatorCommands: CommandModule = (program, run) => {
  for (const [word, description] of WORDS) {
    program.command(word)
      .description(description)
      .option('--strategy <name>', 'one strategy alone')
      .option('--reason <text>', 'why: for the log, the recording and whoever looks next')
      .action(run((context, flags: OperatorFlags) => order(context, word, flags)));
  }
};

async function order(context: CommandContext, word: OperatorWord, flags: OperatorFlags): Promise<ExitCode> {
  const { terminal } = context;
  const view = await postOrder(context, word, flags);
  terminal.result(view, () => tradingText(view));
  return EXIT.done;
}

async function postOrder(context: CommandContext, word: OperatorWord, body: OperatorFlags): Promise<TradingView> {
  try {
    return await daemonClient(context).post(`/api/${word}`, body) as unknown as TradingView;
  } catch (error) {
    if (word !== 'halt' || !isGannetError(error) || error.code !== 'CONTROL_UNREACHABLE') throw error;
    const { path } = stopFileOf(context.options.stateDir);
    throw new GannetError('CONTROL_UNREACHABLE', `${messageOf(error)}. A file named ${path} halts the next one before it trades, and one that runs within a second`, { cause: error });
  }
}
