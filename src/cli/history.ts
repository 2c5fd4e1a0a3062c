import { printable } from '../core/text.ts';
import type { HistoryFilter } from '../service/prediction-request.ts';
import type { HistoryRecord } from '../service/wire/prediction-history.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { instant, microUsd, shortened } from './figures.ts';
import type { ListFlags } from './list-flags.ts';
import { addListFlags, nothingListed, readRange } from './list-flags.ts';
import { looking } from './look.ts';
import { ownWallet } from './positions.ts';
import { contractsText, marketTitle } from './prediction-text.ts';
import type { RequestFlags } from './request-flags.ts';
import { addFlags } from './request-flags.ts';
import { table } from './table.ts';

const FLAGS: RequestFlags<HistoryFilter> = {
  owner: ['text', 'whose; left out, the configured wallet’s'],
  eventId: ['number', 'one entry by its number'],
  positionPubkey: ['text', 'of one position'],
};

export const historyCommand: CommandModule = (program, run) => {
  addFlags(addListFlags(program.command('history').description('the ledger of an account in prediction markets, the newest entry first')), FLAGS)
    .action(run(looking(async (look, { all, limit, start, end, ...filter }: ListFlags & HistoryFilter) => {
      const { terminal, world: { service: { prediction } } } = look;
      const asked = { ...filter, owner: filter.owner ?? ownWallet(look) };
      const page = await readRange(terminal, { ...(all === undefined ? {} : { all }), ...(limit === undefined ? {} : { limit }), start, end }, {
        page: (range) => prediction.history({ ...asked, ...range }, { priority: 'watch' }),
        all: (options) => prediction.allHistory(asked, options),
      });
      terminal.result(page, () => (page.data.length === 0 ? nothingListed(page, 'no entries') : historyText(page.data, terminal.colour)));
      return EXIT.done;
    })));
};

function historyText(records: readonly HistoryRecord[], colour: boolean): string {
  return table([
    ['when (UTC)', 'what', 'market', 'side', 'contracts', 'price', 'money', 'fee', 'result', 'signature'],
    ...records.map((record) => [
      instant(record.timestamp), printable(record.eventType.replaceAll('_', ' '), 30), marketTitle(record.marketId, record.marketMetadata, record.eventMetadata), sideOf(record),
      contractsText(said(record.filledContractsMicro, record.contractsSettledMicro, record.contractsMicro)), microUsd(record.avgFillPriceUsd),
      microUsd(said(record.payoutAmountUsd, record.netProceedsUsd, record.totalCostUsd, record.depositAmountUsd)),
      microUsd(said(record.feeUsd)), microUsd(said(record.realizedPnl)),
      record.signature === undefined ? '' : shortened(record.signature),
    ]),
  ], { right: [4, 5, 6, 7, 8], colour });
}

function sideOf({ isBuy, isYes }: HistoryRecord): string {
  const side = isYes === undefined ? '' : isYes ? 'YES' : 'NO';
  return isBuy === undefined ? side : `${isBuy ? 'buy' : 'sell'} ${side}`.trimEnd();
}

/** Returns the first figure that says something: an entry carries those of every kind, at 0 where they are not its own. */
function said(...figures: readonly (bigint | undefined)[]): bigint | undefined {
  return figures.find((figure) => figure !== undefined && figure !== 0n);
}
