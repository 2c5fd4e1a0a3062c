import type { CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import type { ListFlags, RequestFlags } from '../../input/request-flags.ts';
import { addFlags, addListFlags, flagOf, nothingListed, readRange } from '../../input/request-flags.ts';
import type { ServiceRequest } from '../../input/service-request.ts';
import { serviceRequest } from '../../input/service-request.ts';
import { instant, microUsd, percent } from '../../output/figures.ts';
import { contractsText, marketTitle, stateText } from '../../output/prediction-text.ts';
import { facts, table } from '../../output/table.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import type { PositionsFilter } from '../../../service/endpoints/prediction.ts';
import type { PredictionPosition } from '../../../market/prediction.ts';

const FLAGS: RequestFlags<PositionsFilter> = {
  owner: ['text', 'the owner (default: the configured wallet)'],
  isYes: ['flag', 'only the YES or only the NO side'],
  marketId: ['text', 'only this market'],
  marketPubkey: ['text', 'only the market with this account'],
};

export const positionsCommand: CommandModule = (program, run) => {
  addFlags(addListFlags(program.command('positions [pubkey]').description(
    'positions in prediction markets, or one by its public key',
  )), FLAGS)
    .action(run(serviceRequest(async (
      request, pubkey: string | undefined, { all, limit, start, end, ...filter }: ListFlags & PositionsFilter,
    ) => {
      const { terminal, connections: { service: { prediction } } } = request;
      if (pubkey !== undefined) {
        refuseFlags({ all, limit, start, end, ...filter });
        const position = await prediction.position(pubkey, { priority: 'watch' });
        terminal.result(position, () => positionText(position));
        return EXIT.done;
      }
      const asked = { ...filter, owner: filter.owner ?? walletAddress(request) };
      if (asked.owner === undefined)
        terminal.err('all positions of the service, because no wallet is configured; --owner names one\n');
      const page = await readRange(terminal,
        { ...(all === undefined ? {} : { all }), ...(limit === undefined ? {} : { limit }), start, end }, {
          page: (range) => prediction.positions({ ...asked, ...range }, { priority: 'watch' }),
          all: (options) => prediction.allPositions(asked, options),
        });
      terminal.result(page, () =>
        (page.data.length === 0 ? nothingListed(page, 'no positions') : positionsText(page.data, terminal.colour)));
      return EXIT.done;
    })));
};

/** Returns the wallet of the configuration; undefined when it names none. */
export function walletAddress({ loaded: { config }, connections }: ServiceRequest): string | undefined {
  return config.wallet.address ?? connections.sandbox?.addresses.wallet.address;
}

/** One position has neither pages nor filters. */
function refuseFlags(flags: Readonly<Record<string, unknown>>): void {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined).map(([name]) => flagOf(name));
  if (given.length > 0) throw new GannetError(
    'USAGE', `a position's public key selects one position: expected it without ${given.join(' and ')}`,
  );
}

function positionsText(positions: readonly PredictionPosition[], colour: boolean): string {
  return table([
    ['market', 'about', 'side', 'contracts', 'cost', 'value', 'result', 'result, %', 'state'],
    ...positions.map((position) => [
      printable(position.marketId, 40), marketTitle(position.marketId, position.marketMetadata, position.eventMetadata),
      side(position),
      contractsText(position.contractsMicro), microUsd(position.totalCostUsd), microUsd(position.valueUsd),
      microUsd(position.pnlUsdAfterFees ?? realized(position)), percent(position.pnlUsdAfterFeesPercent),
      positionState(position),
    ]),
  ], { right: [3, 4, 5, 6, 7], colour });
}

function positionText(position: PredictionPosition): string {
  const { eventMetadata, marketMetadata } = position;
  return facts([
    ['position', printable(position.pubkey)],
    ['owner', printable(position.ownerPubkey ?? position.owner ?? '')],
    ['market', `${marketTitle(position.marketId, marketMetadata, eventMetadata)}  ${printable(position.marketId, 60)}`],
    ['side', side(position)],
    ['contracts', `${contractsText(position.contractsMicro)}, each ${microUsd(position.avgPriceUsd)} on average`],
    ['cost', `${microUsd(position.totalCostUsd)}, and ${microUsd(position.feesPaidUsd)} of fees`],
    ['value', position.valueUsd === undefined ? undefined
      : `${microUsd(position.valueUsd)}, at the best bid of ${microUsd(position.markPriceUsd)}`],
    ['result', position.pnlUsdAfterFees === undefined ? undefined
      : `${microUsd(position.pnlUsdAfterFees)} after fees, ${percent(position.pnlUsdAfterFeesPercent)}`],
    ['realized', position.realizedPnlUsd === undefined ? undefined : microUsd(position.realizedPnlUsd)],
    ['pays', `${microUsd(position.payoutUsd)} if it wins`],
    ['state', positionState(position)],
    ['opened', position.openedAt === undefined ? undefined : `${instant(position.openedAt)} UTC`],
  ]);
}

/** Returns the realized result; 0 means that nothing is realized yet. */
function realized({ realizedPnlUsd }: PredictionPosition): bigint | undefined {
  return realizedPnlUsd === 0n ? undefined : realizedPnlUsd;
}

function side({ isYes }: PredictionPosition): string {
  return isYes ? 'YES' : 'NO';
}

function positionState({ claimed, claimable, payoutUsd, marketMetadata }: PredictionPosition): string {
  if (claimed === true) return 'paid out';
  if (claimable === true) return `${microUsd(payoutUsd)} claimable`;
  return marketMetadata === undefined ? '' : stateText(marketMetadata);
}
