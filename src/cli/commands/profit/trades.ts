import { InvalidArgumentError } from 'commander';
import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { durationFlag, wholeNumber } from '../../input/flags.ts';
import type { ModeFlags } from '../../input/profit-input.ts';
import { chosenMode, readProfit, runningStatement, withModeFlags, writePrivate } from '../../input/profit-input.ts';
import { daysText, tradesCsv, tradesText } from '../../output/profit-text.ts';
import { GannetError } from '../../../core/errors.ts';
import { nearest, printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { DAY_MS, dayOf } from '../../../profit/figures.ts';
import { tradesOf } from '../../../profit/trades.ts';

interface TradeFlags extends ModeFlags {
  readonly strategy?: string;
  readonly since?: Since;
  readonly limit: number;
  readonly csv?: string;
}

/** An instant, or how long ago. */
type Since = { readonly at: Millis } | { readonly ago: Millis };

export const tradesCommand: CommandModule = (program, run) => {
  withModeFlags(program.command('trades'))
    .description('closed trades, newest first: each sale with what it sold, first in, first out')
    .option('--strategy <name>', 'only those of this strategy')
    .option('--since <time>', 'only those since: "7d", or a day of UTC such as 2026-11-01', sinceFlag)
    .option('--limit <n>', 'the most trades to list', wholeNumber(1, 999_999), 50)
    .option('--csv <file>', 'write all that match into this file')
    .addHelpText('after', example('gannet trades --strategy sol-dip --since 30d'))
    .action(run(async (context: CommandContext, flags: TradeFlags) => {
      const chosen = chosenMode(context, flags, await runningStatement(context));
      const { booked, tokens, mode } = readProfit(context, chosen);
      refuseUnknown(flags.strategy, booked.map(({ book }) => book));
      const { since } = flags;
      const from = since === undefined ? undefined : 'at' in since ? since.at : Date.now() - since.ago;
      const trades = tradesOf(booked, tokens, { strategy: flags.strategy, since: from });
      if (flags.csv !== undefined) writePrivate(flags.csv, '--csv', tradesCsv(trades));
      const shown = trades.slice(0, flags.limit);
      context.terminal.result({ mode, count: trades.length, trades: shown, csv: flags.csv ?? null }, () =>
        tradesText(shown, { mode, all: trades.length })
          + (flags.csv === undefined ? '' : `\n  written: ${printable(flags.csv)}\n`));
      return EXIT.done;
    }));
};

export const dailyCommand: CommandModule = (program, run) => {
  withModeFlags(program.command('daily'))
    .description('profit by day of UTC, one line a day')
    .option('--days <n>', 'the last days to list', wholeNumber(1, 36_500), 30)
    .action(run(async (context: CommandContext, flags: ModeFlags & { readonly days: number }) => {
      const chosen = chosenMode(context, flags, await runningStatement(context));
      const { results, tokens, mode } = readProfit(context, chosen);
      const now = Date.now();
      const from = dayOf(now - (flags.days - 1) * DAY_MS);
      const days = results.total.days(tokens).filter(({ day }) => day >= from);
      context.terminal.result({ mode, days }, () => daysText(days, mode));
      return EXIT.done;
    }));
};

function sinceFlag(text: string): Since {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) {
    if (!/^\d/.test(text) || text.includes('-'))
      throw new InvalidArgumentError('expected a duration such as "7d", or a day of UTC such as 2026-11-01.');
    return { ago: durationFlag(text) };
  }
  const at = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(at) || dayOf(at) !== text) throw new InvalidArgumentError(`there is no day ${text}.`);
  return { at };
}

/** Throws USAGE for a strategy that never swapped. */
function refuseUnknown(strategy: string | undefined, books: readonly string[]): void {
  const names = new Set(books);
  if (strategy === undefined || names.has(strategy)) return;
  const near = nearest(strategy, names);
  throw new GannetError('USAGE', `strategy ${printable(strategy, 100)} has no swap in the journal`
    + (near === undefined ? '' : `; did you mean ${printable(near)}?`));
}
