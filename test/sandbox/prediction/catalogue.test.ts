import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../../src/sandbox/prediction/event-plans.ts';
import { STARTED_AT_MS, timedExchange } from './timed-exchange.ts';

const DAY_SLOTS = 216_000;

describe('the events of the sandbox', () => {
  it('are of both providers and all categories, some with more markets than a page holds', () => {
    const events = timedExchange().events();
    expect(new Set(events.map(({ plan }) => plan.provider))).toEqual(new Set(PROVIDERS));
    expect([...new Set(events.map(({ plan }) => plan.category))].toSorted())
      .toEqual(['crypto', 'culture', 'economics', 'esports', 'politics', 'sports', 'tech']);
    for (const provider of PROVIDERS) {
      expect(events.some(({ plan, markets }) => plan.provider === provider && markets.length > 20)).toBe(true);
    }
    const ids = events.flatMap(({ markets }) => markets.map(({ marketId }) => marketId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('come and go, and are found long after', () => {
    const exchange = timedExchange();
    const ids = (): Set<string> => new Set(exchange.events().map(({ plan }) => plan.eventId));
    const before = ids();
    exchange.at(40_000);
    const after = ids();
    const [gone, come] = [[...before].filter((id) => !after.has(id)), [...after].filter((id) => !before.has(id))];
    expect([gone.length, come.length]).toEqual([expect.any(Number), gone.length]);
    expect(come.length).toBeGreaterThan(5);
    expect(gone.every((id) => exchange.event(id)?.plan.eventId === id)).toBe(true);
    exchange.at(0);
    expect(come.some((id) => exchange.event(id) !== undefined)).toBe(false);
  });

  it('open, close, and resolve a little later, on time and to yes or no', () => {
    const exchange = timedExchange();
    const event = exchange.events().find(({ isLasting, closeSlot }) => !isLasting && closeSlot > 0)!;
    const [market] = event.markets;
    const seen = [market!.haltSlot - 1, market!.haltSlot, market!.resolveSlot - 1, market!.resolveSlot]
      .map((slot) => exchange.venue.state(market!, slot));
    expect(seen).toEqual([
      { status: 'open', result: null, resolvedSlot: undefined },
      { status: 'closed', result: null, resolvedSlot: undefined },
      { status: 'closed', result: null, resolvedSlot: undefined },
      { status: 'closed', result: market!.outcome, resolvedSlot: market!.resolveSlot },
    ]);
    expect(exchange.venue.pricing(market!, market!.haltSlot))
      .toEqual({ buyYesPriceUsd: 0, buyNoPriceUsd: 0, sellYesPriceUsd: 0, sellNoPriceUsd: 0 });
    expect(exchange.venue.book(market!, market!.haltSlot)).toEqual({ yes: [], no: [] });
  });

  it('resolve to yes about as often as their prices said, never twice where only one can win', () => {
    const exchange = timedExchange();
    let [expected, found, count] = [0, 0, 0];
    for (let slot = 0; slot < 20 * DAY_SLOTS; slot += 9_000) {
      exchange.at(slot);
      for (const { isLasting, plan, markets, openSlot } of exchange.events()) {
        if (isLasting || openSlot !== slot) continue;
        const winners = markets.filter(({ outcome }) => outcome === 'yes').length;
        if (plan.isExclusive === true) expect(winners).toBeLessThanOrEqual(1);
        found += winners;
        expected += markets.reduce((sum, { plan: { probability } }) => sum + probability, 0);
        count += markets.length;
      }
    }
    expect(count).toBeGreaterThan(1_000);
    expect(Math.abs(found - expected) / count).toBeLessThan(0.05);
  });

  it('lean to where they will end', () => {
    const exchange = timedExchange();
    const ending = exchange.events().filter(({ isLasting, closeSlot }) => !isLasting && closeSlot > 0)
      .flatMap(({ markets }) => markets);
    for (const market of ending) {
      const last = exchange.venue.probability(market, market.haltSlot - 1);
      expect(market.outcome === 'yes' ? last : 1 - last).toBeGreaterThan(0.8);
    }
  });

  it('include four that stopped before the start: a yes, a no, a cancelled and a halted one', () => {
    const exchange = timedExchange();
    const states = ['FOGHORN-KEEP', 'FOGHORN-SELL', 'FOGHORN-PAINT', 'FOGHORN-MUTE']
      .map((id) => exchange.venue.state(exchange.market(id)!, 0));
    expect(states.map(({ status, result }) => [status, result]))
      .toEqual([['closed', 'yes'], ['closed', 'no'], ['cancelled', null], ['closed', null]]);
    expect(exchange.timeline.unixSeconds(exchange.market('FOGHORN-MUTE')!.closeSlot) * 1_000)
      .toBeGreaterThan(STARTED_AT_MS + 86_400_000);
  });

  it('stand still in a market that stands still', () => {
    const exchange = timedExchange({ speed: 0 });
    for (const event of exchange.events()) {
      for (const market of event.markets) {
        if (market.haltSlot <= 2_000) continue;
        expect(exchange.venue.book(market, 2_000)).toEqual(exchange.venue.book(market, 0));
      }
    }
  });
});
