import { indexedRandom } from '../market/indexed-random.ts';
import type { EventPlan, MarketPlan } from './event-plan.ts';

/** Events that come again and again: number `n` opens at `n * periodSlots` and trades for `lifeSlots`. */
export interface EventSeries {
  readonly periodSlots: number;
  readonly lifeSlots: number;
  /** Returns the number of the event in an identifier of this series. */
  numberOf(eventId: string): number | undefined;
  /** Returns the identifier of the event that a market's identifier belongs to, if it is of this series. */
  eventIdOf(marketId: string): string | undefined;
  idOf(number: number): string;
  plan(number: number): EventPlan;
}

const STRIKES = [0.7, 0.5, 0.3] as const;
/** Numbers are shifted, so that events from before the start have an ordinary identifier too. */
const FIRST_NUMBER = 100_000;

/**
 * Returns the series of a seed: a price every 15 minutes, a match every half hour, a gauge every hour, counted in slots
 * of 400 ms.
 */
export function recurringEvents(seed: string): readonly EventSeries[] {
  const chance = indexedRandom(`${seed}:recurring`);
  const home = (number: number, lane: number): number => 0.3 + 0.4 * chance(number, lane);
  return [
    series({
      idOf: (number) => `9${FIRST_NUMBER + number}`, pattern: /^9(\d{5,7})$/, marketPattern: /^(9\d{5,7})[1-3]$/,
      periodSlots: 2_250, lifeSlots: 4_500,
      plan: (eventId, number) => ({
        eventId, provider: 'provider_b', category: 'crypto', subcategory: 'prices', series: 'kelp-15m',
        title: `KELP up or down, round ${FIRST_NUMBER + number}`, subtitle: 'A quarter of an hour each',
        tags: ['kelp', 'recurring'], closeCondition: 'Closes on time.', volumeUsdPerDay: 180_000, isLive: true,
        markets: STRIKES.map((probability, i) =>
          market({ marketId: `${eventId}${i + 1}`, title: `Above mark ${i + 1}`, probability })),
      }),
    }),
    series({
      idOf: (number) => `8${FIRST_NUMBER + number}`, pattern: /^8(\d{5,7})$/, marketPattern: /^(8\d{5,7})[12]$/,
      periodSlots: 4_500, lifeSlots: 6_750,
      plan: (eventId, number) => {
        const probability = home(number, 0);
        return {
          eventId, provider: 'provider_b', category: 'esports', subcategory: 'kelp-league', series: 'kelp-league-round',
          title: `Kelp League, match ${FIRST_NUMBER + number}`, isExclusive: true, subtitle: 'Best of three',
          tags: ['esports', 'recurring'], closeCondition: 'Closes when the last round ends.', volumeUsdPerDay: 52_000,
          isLive: true,
          markets: [
            { ...market({ marketId: `${eventId}1`, title: 'Home', probability }), isTeam: true },
            { ...market({ marketId: `${eventId}2`, title: 'Away', probability: 1 - probability }), isTeam: true },
          ],
        };
      },
    }),
    series({
      idOf: (number) => `TIDEGATE-${FIRST_NUMBER + number}`, pattern: /^TIDEGATE-(\d{5,7})$/,
      marketPattern: /^(TIDEGATE-\d{5,7})-(?:HIGH|LOW)$/, periodSlots: 9_000, lifeSlots: 18_000,
      plan: (eventId, number) => ({
        eventId, provider: 'provider_a', category: 'economics', subcategory: 'shipping', series: 'TIDEGATE',
        title: `Water at the tide gate, hour ${FIRST_NUMBER + number}`, isExclusive: true,
        subtitle: 'Gauge at the full hour', tags: ['tide', 'recurring'], closeCondition: 'Closes on time.',
        volumeUsdPerDay: 14_000,
        markets: [
          market({ marketId: `${eventId}-HIGH`, title: 'Above the upper mark', probability: home(number, 1) }),
          market({ marketId: `${eventId}-LOW`, title: 'Below the lower mark', probability: 0.12 }),
        ],
      }),
    }),
  ];
}

function series(options: {
  idOf: (number: number) => string; pattern: RegExp; marketPattern: RegExp; periodSlots: number; lifeSlots: number;
  plan: (eventId: string, number: number) => EventPlan;
}): EventSeries {
  return {
    periodSlots: options.periodSlots,
    lifeSlots: options.lifeSlots,
    idOf: options.idOf,
    numberOf(eventId) {
      const digits = options.pattern.exec(eventId)?.[1];
      return digits === undefined ? undefined : Number(digits) - FIRST_NUMBER;
    },
    eventIdOf: (marketId) => options.marketPattern.exec(marketId)?.[1],
    plan: (number) => options.plan(options.idOf(number), number),
  };
}

function market(
  { marketId, title, probability }: { marketId: string; title: string; probability: number },
): MarketPlan {
  return {
    marketId, probability, swing: 0.5, halfLifeSlots: 300, tick: 100, spread: 200, levels: 6, sizePerLevel: 450,
    liquidity: 'two-sided', title, rules: `Resolves to Yes if the gauge says "${title.toLowerCase()}" at the end.`,
  };
}
