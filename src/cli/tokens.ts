import { printable } from '../core/text.ts';
import type { TokenRecord } from '../service/wire/token-record.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { openConfigured } from './configured.ts';
import { EXIT } from './exit-codes.ts';
import { table } from './table.ts';

export const tokensCommand: CommandModule = (program, run) => {
  program.command('tokens <query...>')
    .description('token records by symbol, name or mint')
    .action(run(async (context: CommandContext, query: string[]) => {
      const { world } = await openConfigured(context, 'look');
      try {
        const { records, rejected } = await world.service.tokens.search(query, { priority: 'watch' });
        if (rejected.length > 0) context.terminal.err(`${rejected.length} records of the answer are malformed and left out\n`);
        context.terminal.result(records, () => asText(records, context.terminal.colour));
        return records.length > 0 ? EXIT.done : EXIT.failed;
      } finally {
        await world.close();
      }
    }));
};

function asText(records: readonly TokenRecord[], colour: boolean): string {
  if (records.length === 0) return '  no token matches\n';
  const rows = records.map((record) => [
    printable(record.symbol ?? '', 16), printable(record.name ?? '', 32), record.id, String(record.decimals),
    usd(record.values.usdPrice), usd(record.values.liquidity), record.values.organicScore?.toFixed(0) ?? '', record.isVerified === true ? 'yes' : 'no',
  ]);
  return table([['symbol', 'name', 'mint', 'decimals', 'price', 'liquidity', 'organic', 'verified'], ...rows], { right: [3, 4, 5, 6], colour });
}

/** Prices keep their digits, large sums lose their cents. */
function usd(value: number | undefined): string {
  if (value === undefined) return '';
  return `$${value >= 1_000 ? Math.round(value).toString() : value.toPrecision(6)}`;
}
