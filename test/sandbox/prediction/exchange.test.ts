import { describe, expect, it } from 'vitest';
import type { LedgerRecord } from '../../../src/sandbox/prediction/ledger.ts';
import type { Position } from '../../../src/sandbox/prediction/positions.ts';
import { ONE, valuationOf } from '../../../src/sandbox/prediction/positions.ts';
import { timedExchange, WALLET, type TimedExchange } from './timed-exchange.ts';

const DAY_SLOTS = 216_000;
/** An exchange at its start, for tests that only read. */
const begun = timedExchange();
const EVENT_TYPES = [
  'order_created', 'order_filled', 'order_failed', 'order_closed', 'payout_claimed', 'position_updated',
  'position_lost',
];

function sum(
  records: readonly LedgerRecord[],
  name: 'depositAmountUsd' | 'totalCostUsd' | 'feeUsd' | 'transferAmountToken' | 'filledContracts',
): bigint {
  return records.reduce((total, { figures }) => total + (figures[name] ?? 0n), 0n);
}

function ordersOf(exchange: TimedExchange): LedgerRecord[][] {
  const orders = Map.groupBy(
    exchange.history({}).filter(({ orderNumber }) => orderNumber !== undefined), ({ orderNumber }) => orderNumber,
  );
  return [...orders.values()].filter((records) => records.some(({ eventType }) => eventType === 'order_created'));
}

function ofMarket(exchange: TimedExchange, marketId: string): Position[] {
  return exchange.positions().filter((position) => position.marketId === marketId);
}

describe('the ledger of the prediction exchange', () => {
  it('is the same for the same seed, whether it was read on the way or not', () => {
    const [eager, lazy, other] = [timedExchange(), timedExchange(), timedExchange({ seed: 8 })];
    for (let slot = 0; slot <= 3_000; slot += 7) {
      eager.at(slot);
      eager.positions();
    }
    for (const exchange of [eager, lazy, other]) exchange.at(3_000);
    expect(eager.history({})).toEqual(lazy.history({}));
    expect(eager.positions()).toEqual(lazy.positions());
    expect(other.history({})).not.toEqual(lazy.history({}));
  });

  it('has every kind of event, the newest first, numbered through all accounts', () => {
    const records = begun.history({});
    expect(new Set(records.map(({ eventType }) => eventType))).toEqual(new Set(EVENT_TYPES));
    for (const [i, record] of records.slice(1).entries()) {
      expect(record.id).toBe(records[i]!.id - 1);
      expect(record.slot).toBeLessThanOrEqual(records[i]!.slot);
    }
  });

  it('leaves little work to the first request after a long pause', () => {
    const exchange = timedExchange();
    exchange.history({});
    const start = exchange.steps;
    for (let slot = 0; slot <= 295_000; slot += 5_000) {
      exchange.at(slot);
      exchange.keepUp();
    }
    const whole = exchange.steps - start;
    exchange.history({});
    const atLast = exchange.steps - start - whole;
    expect(whole).toBeGreaterThan(3_000);
    expect(atLast).toBeLessThan(whole / 4);
  });

  it('grows as slots pass, for the wallet too', () => {
    const exchange = timedExchange();
    const [all, own] = [exchange.history({}).length, exchange.history({ ownerPubkey: WALLET }).length];
    exchange.at(10_000);
    expect(exchange.history({}).length).toBeGreaterThan(all + 100);
    expect(exchange.history({ ownerPubkey: WALLET }).length).toBeGreaterThan(own);
  });

  it('gives back what an order did not need: deposit = cost + fee + refund', () => {
    let filled = 0;
    for (const records of ordersOf(begun)) {
      if (!records[0]!.isBuy
          || records.every(({ eventType }) => eventType !== 'order_closed' && eventType !== 'order_failed')) continue;
      const bought = records.filter(({ eventType }) => eventType !== 'position_updated');
      expect(sum(bought, 'depositAmountUsd'))
        .toBe(sum(bought, 'totalCostUsd') + sum(bought, 'feeUsd') + sum(bought, 'transferAmountToken'));
      filled += records.some(({ eventType }) => eventType === 'order_filled') ? 1 : 0;
    }
    expect(filled).toBeGreaterThan(500);
  });

  it('fills within the limit, sometimes in part, and pays net of fees what a sale brought', () => {
    const fills = begun.history({}).filter(({ eventType }) => eventType === 'order_filled');
    expect(fills.some(({ figures }) => figures.filledContracts! < figures.contracts!)).toBe(true);
    for (const { isBuy, figures } of fills) {
      if (isBuy) expect(figures.maxFillPriceUsd!).toBeLessThanOrEqual(figures.maxBuyPriceUsd!);
      else {
        expect(figures.avgFillPriceUsd!).toBeGreaterThanOrEqual(figures.minSellPriceUsd!);
        expect(figures.netProceedsUsd!).toBe(figures.grossProceedsUsd! - figures.feeUsd!);
      }
    }
  });

  it('forgets the oldest records, and nothing grows without end', () => {
    const exchange = timedExchange();
    exchange.at(8 * DAY_SLOTS);
    expect(exchange.history({}).length).toBeLessThanOrEqual(20_000);
    const early = exchange.positions().length;
    exchange.at(11 * DAY_SLOTS);
    expect(exchange.positions().length).toBeLessThan(1.5 * early);
  });
});

describe('positions of the prediction exchange', () => {
  it('are many: of the wallet and of others, more than a page', () => {
    const counts = begun.traders.map(({ address }) =>
      begun.positions().filter(({ owner }) => owner === address).length);
    expect(begun.traders[0]!.address).toBe(WALLET);
    expect(counts.every((count) => count > 5)).toBe(true);
    expect(counts.filter((count) => count > 20).length).toBeGreaterThanOrEqual(2);
  });

  it('show every state in the wallet, whatever the seed', () => {
    for (let seed = 1; seed <= 8; seed++) {
      const exchange = timedExchange({ seed, contracts: seed % 2 === 0 ? 'whole' : 'hundredth' });
      const states = ['FOGHORN-KEEP', 'FOGHORN-SELL', 'FOGHORN-PAINT', 'FOGHORN-MUTE', 'SPRINGTIDE-26DEC31']
        .map((marketId) => {
          const { claimableSlot, isClaimed, settledSlot } = ofMarket(exchange, marketId)
            .find(({ owner }) => owner === WALLET)!;
          return [settledSlot !== undefined, claimableSlot !== undefined && !isClaimed];
        });
      expect(states).toEqual([[true, true], [true, false], [true, false], [false, false], [false, false]]);
    }
  });

  it('hold, cost and have gained what the ledger says', () => {
    const seen = { sold: 0, settled: 0 };
    for (const position of begun.positions()) {
      const records = begun.history({ positionPubkey: position.pubkey });
      const before = records.findIndex(({ slot }) => slot < position.openedSlot);
      const own = records.slice(0, before < 0 ? undefined : before);
      const fills = own.filter(({ eventType }) => eventType === 'order_filled');
      const [bought, sold] = [fills.filter(({ isBuy }) => isBuy), fills.filter(({ isBuy }) => !isBuy)];
      expect(position.contracts).toBe(sum(bought, 'filledContracts') - sum(sold, 'filledContracts'));
      // What a sale took along of the cost is what it brought less what was gained by it; the same with fees.
      const costSold =
        sold.reduce((total, { figures }) => total + figures.grossProceedsUsd! - figures.realizedPnlBeforeFees!, 0n);
      const feesSold = sold.reduce(
        (total, { figures }) => total + figures.realizedPnlBeforeFees! - figures.realizedPnl! - figures.feeUsd!, 0n,
      );
      expect(position.cost).toBe(sum(bought, 'totalCostUsd') - costSold);
      expect(position.fees).toBe(sum(bought, 'feeUsd') - feesSold);
      expect(position.realized).toBe(own.reduce((total, { figures }) => total + (figures.realizedPnl ?? 0n), 0n));
      seen.sold += sold.length;
      seen.settled += own.some(({ eventType }) => eventType === 'position_lost' || eventType === 'payout_claimed')
        ? 1 : 0;
    }
    expect(Math.min(seen.sold, seen.settled)).toBeGreaterThan(20);
  });

  it('are marked at the best bid, cut percents towards zero, and have no value once the market is closed', () => {
    let open = 0;
    for (const position of begun.positions()) {
      const listing = begun.market(position.marketId)!;
      const worth = valuationOf(position, { listing, venue: begun.venue, slot: 0 });
      if (begun.venue.state(listing, 0).status !== 'open') {
        expect(worth).toBeUndefined();
        continue;
      }
      open++;
      const pricing = begun.venue.pricing(listing, 0);
      expect(worth!.markPriceUsd).toBe(BigInt(position.isYes ? pricing.sellYesPriceUsd : pricing.sellNoPriceUsd));
      expect(worth!.sellPriceUsd).toBe(worth!.markPriceUsd === 0n ? undefined : worth!.markPriceUsd);
      expect(worth!.valueUsd).toBe((position.contracts * worth!.markPriceUsd) / ONE);
      expect(worth!.pnlUsd).toBe(worth!.valueUsd - position.cost);
      expect(worth!.pnlUsdAfterFees).toBe(worth!.pnlUsd - position.fees);
      expect(worth!.pnlUsdPercent).toBe(Math.trunc(Number((worth!.pnlUsd * 1_000_000n) / position.cost) / 100) / 100);
    }
    expect(open).toBeGreaterThan(50);
  });

  it('can be worth nothing while the market is open, when there are no bids', () => {
    const unsellable = begun.positions().filter(({ marketId, isYes }) => marketId === 'LIGHTHOUSE-27JAN15' && !isYes);
    const listing = begun.market('LIGHTHOUSE-27JAN15')!;
    expect(unsellable.length).toBeGreaterThan(0);
    expect(valuationOf(unsellable[0]!, { listing, venue: begun.venue, slot: 0 }))
      .toMatchObject({ sellPriceUsd: undefined, markPriceUsd: 0n, valueUsd: 0n, pnlUsdPercent: -100 });
  });
});

describe('settlement', () => {
  it('comes with time: who lost is told, who won can claim until the keeper does it a day later', () => {
    const exchange = timedExchange();
    exchange.at(20_000);
    const settled = exchange.positions().filter(({ settledSlot }) => settledSlot !== undefined && settledSlot > 0);
    expect(settled.length).toBeGreaterThan(10);
    for (const position of settled) {
      const { result } = exchange.venue.state(exchange.market(position.marketId)!, 20_000);
      const hasWon = (result === 'yes') === position.isYes;
      const [first] = exchange.history({ positionPubkey: position.pubkey })
        .filter(({ eventType }) => eventType === 'position_lost' || eventType === 'payout_claimed');
      if (hasWon) expect(position.claimableSlot).toBe(position.settledSlot);
      else expect(first).toMatchObject({
        eventType: 'position_lost', slot: position.settledSlot,
        figures: { realizedPnl: -(position.cost + position.fees) },
      });
    }
    const waiting = settled.filter(({ claimableSlot, isClaimed }) => claimableSlot !== undefined && !isClaimed);
    expect(waiting.length).toBeGreaterThan(3);
    exchange.at(20_000 + DAY_SLOTS);
    for (const { pubkey, contracts, cost, fees } of waiting) {
      const [claim] = exchange.history({ positionPubkey: pubkey });
      expect(claim).toMatchObject({
        eventType: 'payout_claimed',
        figures: { payoutAmountUsd: contracts, transferAmountToken: contracts, realizedPnl: contracts - cost - fees },
      });
      expect(exchange.position(pubkey)?.isClaimed ?? true).toBe(true);
    }
    const claims = exchange.history({}).filter(({ eventType }) => eventType === 'payout_claimed');
    expect(new Set(claims.map(({ byKeeper }) => byKeeper))).toEqual(new Set([true, false]));
  });

  it.each(['yes', 'no'] as const)('resolves a market on order: %s', (result) => {
    const exchange = timedExchange();
    const listing = exchange.market('SPRINGTIDE-26DEC31')!;
    const held = ofMarket(exchange, listing.marketId).map(({ pubkey }) => pubkey);
    expect(held.length).toBeGreaterThan(1);
    expect(exchange.resolve(listing, result)).toBe(true);
    expect(exchange.venue.state(listing, 0)).toEqual({ status: 'closed', result, resolvedSlot: 0 });
    for (const position of ofMarket(exchange, listing.marketId)) {
      expect([position.settledSlot, position.claimableSlot])
        .toEqual([0, position.isYes === (result === 'yes') ? 0 : undefined]);
    }
    expect(ofMarket(exchange, listing.marketId)).toHaveLength(held.length);
    expect(exchange.resolve(listing, 'no')).toBe(false);
    exchange.at(DAY_SLOTS);
    expect(exchange.history({ marketId: listing.marketId }).filter(({ eventType }) => eventType === 'order_filled')
      .every(({ slot }) => slot <= 0)).toBe(true);
  });

  it('gives back what was paid when a market is cancelled, at once', () => {
    const exchange = timedExchange();
    const listing = exchange.market('540817')!;
    const held = ofMarket(exchange, listing.marketId);
    exchange.resolve(listing, 'cancelled');
    expect(exchange.venue.state(listing, 0)).toMatchObject({ status: 'cancelled', result: null });
    for (const position of held) {
      expect(position).toMatchObject({ isClaimed: true, claimedUsd: position.cost });
      expect(exchange.history({ positionPubkey: position.pubkey })[0]).toMatchObject({
        eventType: 'payout_claimed', figures: { payoutAmountUsd: position.cost, realizedPnl: -position.fees },
      });
    }
  });

  it('refunds orders that are on their way when the market ends', () => {
    const exchange = timedExchange();
    let caught = 0;
    for (let slot = 0; slot < 3_000 && caught === 0; slot += 10) {
      exchange.at(slot);
      const [latest] = exchange.history({});
      if (latest?.eventType !== 'order_created' || !latest.isBuy || slot - latest.slot > 10) continue;
      exchange.resolve(exchange.market(latest.marketId)!, 'yes');
      exchange.at(slot + 30);
      const [end] = exchange.history({})
        .filter(({ orderNumber, eventType }) => orderNumber === latest.orderNumber && eventType !== 'order_created');
      expect(end).toMatchObject({
        eventType: 'order_failed', figures: { transferAmountToken: latest.figures.depositAmountUsd },
      });
      caught++;
    }
    expect(caught).toBe(1);
  });
});

describe('a book of the operator', () => {
  it('stands in the place of the market’s own until it is released, and trades are made from it', () => {
    const exchange = timedExchange();
    const listing = exchange.market('HERRINGRUN-27MAR01')!;
    const own = exchange.venue.book(listing, 0);
    exchange.setBook(listing.marketId, { yes: [{ price: 7_000, size: 1 }], no: [{ price: 6_000, size: 2 }] });
    expect(exchange.venue.pricing(listing, 0))
      .toEqual({ buyYesPriceUsd: 400_000, buyNoPriceUsd: 300_000, sellYesPriceUsd: 700_000, sellNoPriceUsd: 600_000 });
    exchange.setBook(listing.marketId, null);
    expect(exchange.venue.book(listing, 0)).toBeNull();
    expect(exchange.venue.pricing(listing, 0))
      .toEqual({ buyYesPriceUsd: 0, buyNoPriceUsd: 0, sellYesPriceUsd: 0, sellNoPriceUsd: 0 });
    expect(exchange.venue.bookedMarkets).toEqual([listing.marketId]);
    exchange.releaseBooks();
    expect(exchange.venue.book(listing, 0)).toEqual(own);
    expect(exchange.venue.bookedMarkets).toEqual([]);
  });

  it('does not change what was traded before it was there', () => {
    const [touched, untouched] = [timedExchange(), timedExchange()];
    for (const exchange of [touched, untouched]) exchange.at(5_000);
    touched.setBook('SPRINGTIDE-26DEC31', { yes: [], no: [] });
    expect(touched.history({})).toEqual(untouched.history({}));
  });
});
