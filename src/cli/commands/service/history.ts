import type { CommandModule } from '../../command.ts';
import { walletAddress } from './positions.ts';
import { EXIT } from '../../exit-codes.ts';
import type { ListFlags, RequestFlags } from '../../input/request-flags.ts';
import { addFlags, addListFlags, nothingListed, readRange } from '../../input/request-flags.ts';
import { serviceRequest } from '../../input/service-request.ts';
import { instant, microUsd, shortened } from '../../output/figures.ts';
import { contractsText, marketTitle } from '../../output/prediction-text.ts';
import { table } from '../../output/table.ts';
import { printable } from '../../../core/text.ts';
import type { HistoryFilter } from '../../../service/endpoints/prediction.ts';
import type { HistoryRecord } from '../../../market/prediction.ts';

const FLAGS: RequestFlags<HistoryFilter> = {
  owner: ['text', 'the owner (default: the configured wallet)'],
  eventId: ['number', 'only the entry with this number'],
  positionPubkey: ['text', 'only this position'],
};

export const historyCommand: CommandModule = (program, run) => {
  addFlags(addListFlags(
    program.command('history').description('the ledger of an account in prediction markets, newest first'),
  ), FLAGS)
    .action(run(serviceRequest(async (request, { all, limit, start, end, ...filter }: ListFlags & HistoryFilter) => {
      const { terminal, connections: { service: { prediction } } } = request;
      const asked = { ...filter, owner: filter.owner ?? walletAddress(request) };
      const page = await readRange(terminal,
        { ...(all === undefined ? {} : { all }), ...(limit === undefined ? {} : { limit }), start, end }, {
          page: (range) => prediction.history({ ...asked, ...range }, { priority: 'watch' }),
          all: (options) => prediction.allHistory(asked, options),
        });
      terminal.result(page, () =>
        (page.data.length === 0 ? nothingListed(page, 'no entries') : historyText(page.data, terminal.colour)));
      return EXIT.done;
    })));
};

function historyText(records: readonly HistoryRecord[], colour: boolean): string {
  return table([
    ['time (UTC)', 'event', 'market', 'side', 'contracts', 'price', 'money', 'fee', 'result', 'signature'],
    ...records.map((record) => [
      instant(record.timestamp), printable(record.eventType.replaceAll('_', ' '), 30),
      marketTitle(record.marketId, record.marketMetadata, record.eventMetadata), sideOf(record),
      contractsText(firstNonZero(record.filledContractsMicro, record.contractsSettledMicro, record.contractsMicro)),
      microUsd(record.avgFillPriceUsd),
      microUsd(
        firstNonZero(record.payoutAmountUsd, record.netProceedsUsd, record.totalCostUsd, record.depositAmountUsd),
      ), microUsd(firstNonZero(record.feeUsd)), microUsd(firstNonZero(record.realizedPnl)),
      record.signature === undefined ? '' : shortened(record.signature),
    ]),
  ], { right: [4, 5, 6, 7, 8], colour });
}

function sideOf({ isBuy, isYes }: HistoryRecord): string {
  const side = isYes === undefined ? '' : isYes ? 'YES' : 'NO';
  return isBuy === undefined ? side : `${isBuy ? 'buy' : 'sell'} ${side}`.trimEnd();
}

/** Returns the first figure that is not 0: an entry has the figures of every kind, 0 for those that do not apply. */
function firstNonZero(...figures: readonly (bigint | undefined)[]): bigint | undefined {
  return figures.find((figure) => figure !== undefined && figure !== 0n);
}
