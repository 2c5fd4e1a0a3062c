import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { PositionsFilter } from '../service/prediction-request.ts';
import type { PredictionPosition } from '../service/wire/prediction-position.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { instant, microUsd, percent } from './figures.ts';
import type { ListFlags } from './list-flags.ts';
import { addListFlags, nothingListed, readRange } from './list-flags.ts';
import type { Look } from './look.ts';
import { looking } from './look.ts';
import { contractsText, marketTitle, stateText } from './prediction-text.ts';
import type { RequestFlags } from './request-flags.ts';
import { addFlags, flagOf } from './request-flags.ts';
import { facts, table } from './table.ts';

const FLAGS: RequestFlags<PositionsFilter> = {
  owner: ['text', 'whose; left out, the configured wallet’s'],
  isYes: ['flag', 'the YES or the NO side alone'],
  marketId: ['text', 'of one market'],
  marketPubkey: ['text', 'of one market, by its account'],
};

export const positionsCommand: CommandModule = (program, run) => {
  addFlags(addListFlags(program.command('positions [pubkey]').description('positions in prediction markets, or one of them by its public key')), FLAGS)
    .action(run(looking(async (look, pubkey: string | undefined, { all, limit, start, end, ...filter }: ListFlags & PositionsFilter) => {
      const { terminal, world: { service: { prediction } } } = look;
      if (pubkey !== undefined) {
        refuseFlags({ all, limit, start, end, ...filter });
        const position = await prediction.position(pubkey, { priority: 'watch' });
        terminal.result(position, () => positionText(position));
        return EXIT.done;
      }
      const asked = { ...filter, owner: filter.owner ?? ownWallet(look) };
      if (asked.owner === undefined) terminal.err('the positions of everybody, as no wallet is configured: --owner names one\n');
      const page = await readRange(terminal, { ...(all === undefined ? {} : { all }), ...(limit === undefined ? {} : { limit }), start, end }, {
        page: (range) => prediction.positions({ ...asked, ...range }, { priority: 'watch' }),
        all: (options) => prediction.allPositions(asked, options),
      });
      terminal.result(page, () => (page.data.length === 0 ? nothingListed(page, 'no positions') : positionsText(page.data, terminal.colour)));
      return EXIT.done;
    })));
};

/** Returns the wallet that the configuration means, where it says which. */
export function ownWallet({ loaded: { config }, world }: Look): string | undefined {
  return config.wallet.address ?? world.sandbox?.addresses.wallet.address;
}

/** One position has no pages and no sides. */
function refuseFlags(flags: Readonly<Record<string, unknown>>): void {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined).map(([name]) => flagOf(name));
  if (given.length > 0) throw new GannetError('USAGE', `a position's public key asks for that one alone: expected no ${given.join(' and no ')} with it`);
}

function positionsText(positions: readonly PredictionPosition[], colour: boolean): string {
  return table([
    ['market', 'about', 'side', 'contracts', 'cost', 'worth', 'result', 'result, %', 'state'],
    ...positions.map((position) => [
      printable(position.marketId, 40), marketTitle(position.marketId, position.marketMetadata, position.eventMetadata), side(position),
      contractsText(position.contractsMicro), microUsd(position.totalCostUsd), microUsd(position.valueUsd),
      microUsd(position.pnlUsdAfterFees ?? realized(position)), percent(position.pnlUsdAfterFeesPercent), positionState(position),
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
    ['worth', position.valueUsd === undefined ? undefined : `${microUsd(position.valueUsd)}, at the best bid of ${microUsd(position.markPriceUsd)}`],
    ['result', position.pnlUsdAfterFees === undefined ? undefined : `${microUsd(position.pnlUsdAfterFees)} after fees, ${percent(position.pnlUsdAfterFeesPercent)}`],
    ['realized', position.realizedPnlUsd === undefined ? undefined : microUsd(position.realizedPnlUsd)],
    ['pays', `${microUsd(position.payoutUsd)} if it wins`],
    ['state', positionState(position)],
    ['opened', position.openedAt === undefined ? undefined : `${instant(position.openedAt)} UTC`],
  ]);
}

/** Before something is realized it is 0, which is no result. */
function realized({ realizedPnlUsd }: PredictionPosition): bigint | undefined {
  return realizedPnlUsd === 0n ? undefined : realizedPnlUsd;
}

function side({ isYes }: PredictionPosition): string {
  return isYes ? 'YES' : 'NO';
}

function positionState({ claimed, claimable, payoutUsd, marketMetadata }: PredictionPosition): string {
  if (claimed === true) return 'paid out';
  if (claimable === true) return `${microUsd(payoutUsd)} to be claimed`;
  return marketMetadata === undefined ? '' : stateText(marketMetadata);
}
