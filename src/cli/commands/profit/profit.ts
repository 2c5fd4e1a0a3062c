import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import type { ModeFlags } from '../../input/profit-input.ts';
import {
  chosenMode, keptPricing, readProfit, runningStatement, withModeFlags, writePrivate,
} from '../../input/profit-input.ts';
import { statementText } from '../../output/profit-text.ts';
import { printable } from '../../../core/text.ts';
import { profitStatement } from '../../../profit/statement.ts';
import { taxCsv } from '../../../profit/tax-csv.ts';

interface ProfitFlags extends ModeFlags {
  readonly csv?: string;
}

export const profitCommand: CommandModule = (program, run) => {
  withModeFlags(program.command('profit'))
    .description('profit today, in 7 and 30 days and of all time, by strategy and token, and what is held')
    .option('--csv <file>', 'also write every acquisition and disposal for a tax return')
    .addHelpText('after', example('gannet profit --csv 2026.csv'))
    .action(run(async (context: CommandContext, flags: ProfitFlags) => {
      const { terminal } = context;
      const running = await runningStatement(context);
      const mode = chosenMode(context, flags, running);
      const input = flags.csv !== undefined || running?.mode !== mode ? readProfit(context, mode) : undefined;
      const statement = running?.mode === mode ? running : profitStatement({
        ...input!, adjustments: input!.records.adjustments, at: Date.now(), pricing: keptPricing(context, mode),
      });
      if (flags.csv !== undefined)
        writePrivate(flags.csv, '--csv', taxCsv(input!.booked, input!.records.adjustments, input!.tokens));
      const answer = { ...statement, csv: flags.csv ?? null };
      terminal.result(answer, () => statementText(statement)
        + (flags.csv === undefined ? '' : `\n  written: ${printable(flags.csv)}\n`));
      return EXIT.done;
    }));
};
