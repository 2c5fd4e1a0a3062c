import { indexedRandom } from '../market/indexed-random.ts';
import type { PredictionMarketOptions } from '../market/prediction-market.ts';
import { PREDICTION_MARKETS } from '../market/prediction-market.ts';

const CLOSES_EARLY = 'Closes early if the outcome is known before the date.';
const BOATS = [
  'Albatross', 'Bonxie', 'Cormorant', 'Dunlin', 'Eider', 'Fulmar', 'Gannet', 'Guillemot', 'Heron', 'Ibis', 'Jaeger',
  'Kittiwake', 'Limpkin', 'Merganser', 'Noddy', 'Osprey', 'Pelican', 'Quail', 'Razorbill', 'Shearwater', 'Tern',
  'Urchin', 'Veery', 'Whimbrel',
] as const;
const CANDIDATES = [
  'A. Anemone', 'B. Barnacle', 'C. Clam', 'D. Dogfish', 'E. Eel', 'F. Flounder', 'G. Gurnard', 'H. Hake', 'I. Isopod',
  'J. Jellyfish', 'K. Krill', 'L. Limpet', 'M. Mussel', 'N. Nautilus', 'O. Octopus', 'P. Prawn', 'Q. Quahog', 'R. Ray',
  'S. Scallop', 'T. Turbot', 'U. Umbra', 'V. Velvet-Crab', 'W. Wrasse', 'X. Xiphias', 'Y. Yellowfin', 'Z. Zander',
] as const;

/**
 * The events that exist from the first slot on. They close when the sandbox is older than a year; some have ended
 * already.
 */
export const LASTING_EVENTS: readonly EventPlan[] = [
  event({
    eventId: 'SPRINGTIDE', provider: 'provider_a', category: 'economics', subcategory: 'shipping', series: 'TIDE',
    title: 'How high is the spring tide?',
    subtitle: 'At the Gannet Rock gauge', tags: ['tide', 'weather'], volumeUsdPerDay: 48_000,
    markets: [listed('SPRINGTIDE-26DEC31', 'Above 6 metres')],
  }),
  event({
    eventId: 'HERRINGRUN', provider: 'provider_a', category: 'economics', subcategory: 'fisheries', series: 'HERRING',
    title: 'Herring landed this winter', subtitle: 'All ports together', tags: ['fish'], volumeUsdPerDay: 21_000,
    markets: [listed('HERRINGRUN-27MAR01', 'More than 40,000 tonnes')],
  }),
  event({
    eventId: 'KRAKEN', provider: 'provider_a', category: 'culture', subcategory: 'legends', series: 'KRAKEN',
    title: 'Is a kraken sighted this year?',
    subtitle: 'Two witnesses and a photograph', tags: ['legend'], volumeUsdPerDay: 3_400,
    markets: [listed('KRAKEN-26DEC31', 'Sighted and confirmed')],
  }),
  event({
    eventId: 'LIGHTHOUSE', provider: 'provider_a', category: 'tech', subcategory: 'hardware', series: 'LIGHTHOUSE',
    title: 'New lamp for the lighthouse',
    subtitle: 'In service before the date', tags: ['hardware'], volumeUsdPerDay: 900,
    markets: [listed('LIGHTHOUSE-27JAN15', 'In service in time')],
  }),
  event({
    // Live and without trades: the flag says nothing about liquidity.
    eventId: 'DOLDRUMS', provider: 'provider_a', category: 'economics', subcategory: 'shipping', series: 'WIND',
    title: 'Wind in the doldrums', subtitle: 'Mean of the month', tags: ['weather'], volumeUsdPerDay: 0, isLive: true,
    markets: [listed('DOLDRUMS-26NOV30', 'Above 3 knots')],
  }),
  event({
    eventId: 'REGATTA27', isExclusive: true, provider: 'provider_a', category: 'sports', subcategory: 'sailing',
    series: 'REGATTA', title: 'Who wins the Round Rock Regatta?',
    subtitle: 'Twenty-four boats', tags: ['sailing', 'outright'], volumeUsdPerDay: 64_000,
    markets: contenders(BOATS, {
      idOf: (i) => `REGATTA27-${String(i + 1).padStart(2, '0')}`, levels: 6, sizePerLevel: 700, isTeam: true,
    }),
  }),
  event({
    eventId: 'FOGHORN', provider: 'provider_a', category: 'politics', subcategory: 'council', series: 'FOGHORN',
    title: 'What becomes of the foghorn?',
    subtitle: 'Vote of the harbour council', tags: ['council', 'vote'], volumeUsdPerDay: 5_200,
    markets: [
      {
        ...plain('FOGHORN-KEEP', 'It is kept', 0.64),
        ended: { haltSlot: -21_000, resolveSlot: -20_000, outcome: 'yes' },
      },
      {
        ...plain('FOGHORN-SELL', 'It is sold', 0.27), ended: { haltSlot: -21_000, resolveSlot: -20_000, outcome: 'no' },
      },
      {
        ...plain('FOGHORN-PAINT', 'It is painted red', 0.4),
        ended: { haltSlot: -9_000, resolveSlot: -8_400, outcome: 'cancelled' },
      },
      // Trading was halted long before the date, and nothing is known yet.
      { ...plain('FOGHORN-MUTE', 'It is silent at night', 0.48), ended: { haltSlot: -4_000 } },
    ],
  }),
  event({
    eventId: '90817', provider: 'provider_b', category: 'crypto', subcategory: 'prices', series: 'pearl-quarter',
    title: 'Where does PEARL end the quarter?',
    subtitle: 'Last price of the quarter', tags: ['pearl', 'crypto'], volumeUsdPerDay: 39_000,
    markets: [
      listed('540817', 'Above $2.40'), plain('540818', 'Above $2.80', 0.22), plain('540819', 'Above $3.50', 0.05),
    ],
  }),
  event({
    eventId: '90126', isExclusive: true, provider: 'provider_b', category: 'culture', subcategory: 'music',
    series: 'shanty', title: 'Shanty of the year',
    subtitle: 'Vote of the listeners', tags: ['music'], volumeUsdPerDay: 7_700,
    markets: [listed('541266', 'The Drunken Whaler'), listed('541301', 'Leave Her, Sally')],
  }),
  event({
    eventId: '90200', isExclusive: true, provider: 'provider_b', category: 'politics', subcategory: 'elections',
    series: 'harbour-master', title: 'Who becomes harbour master?',
    subtitle: 'Twenty-six candidates', tags: ['election'], volumeUsdPerDay: 118_000,
    markets: contenders(CANDIDATES, { idOf: (i) => String(542_001 + i), levels: 8, sizePerLevel: 1_400.5 }),
  }),
  event({
    eventId: '90310', isExclusive: true, provider: 'provider_b', category: 'esports', subcategory: 'kelp-league',
    series: 'kelp-league', title: 'Grand final of the Kelp League',
    subtitle: 'Best of seven', tags: ['esports', 'final'], volumeUsdPerDay: 26_000, isLive: true,
    markets: [
      { ...plain('543101', 'Deep Currents', 0.53), isTeam: true },
      { ...plain('543102', 'Salt and Rust', 0.46), isTeam: true },
    ],
  }),
  event({
    // Text that runs in a page and repaints a terminal, unless it is escaped.
    eventId: '90666', provider: 'provider_b', category: 'tech', subcategory: '<b>tech</b>', series: 'bottle',
    title: 'Message in a bottle <img src=x onerror=alert(1)>\u001b[2J\u001b[31m \u202efdp.exe\u202c found?'
      + '\r\nERROR: approve https://harbour.invalid/claim',
    subtitle: '[click](javascript:alert(1)) \u0007', tags: ['bottle', '<script>alert("tag")</script>'],
    volumeUsdPerDay: 310,
    markets: [{
      ...plain('543666', '"Yes" <script>alert("market")</script>\u0000', 0.5),
      rules: 'Send 5 SOL to the address in the bottle. \u001b]0;owned\u0007',
    }],
  }),
];

function event(plan: Omit<EventPlan, 'closeCondition'>): EventPlan {
  return { closeCondition: CLOSES_EARLY, ...plan };
}

/** A market whose book is described in PREDICTION_MARKETS. */
function listed(marketId: string, title: string): MarketPlan {
  const options = PREDICTION_MARKETS.find((market) => market.marketId === marketId);
  if (options === undefined) throw new RangeError(`no book of the market ${marketId}`);
  return { ...options, title, rules: rulesOf(title) };
}

function plain(marketId: string, title: string, probability: number): MarketPlan {
  return { ...ordinaryBook(marketId, probability), title, rules: rulesOf(title) };
}

/** One market for each contender, the favourites first; their probabilities add up to one. */
function contenders(
  names: readonly string[],
  options: { idOf: (index: number) => string; levels: number; sizePerLevel: number; isTeam?: boolean },
): MarketPlan[] {
  const weights = names.map((_, i) => 1 / (i + 2));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return names.map((title, i) => ({
    ...ordinaryBook(options.idOf(i), weights[i]! / total), tick: 10, spread: 40, levels: options.levels,
    sizePerLevel: options.sizePerLevel, title, rules: rulesOf(title), isTeam: options.isTeam ?? false,
  }));
}

function ordinaryBook(marketId: string, probability: number): PredictionMarketOptions {
  return {
    marketId, probability, swing: 0.25, halfLifeSlots: 400, tick: 100, spread: 200, levels: 7, sizePerLevel: 600,
    liquidity: 'two-sided',
  };
}

function rulesOf(title: string): string {
  return `Resolves to Yes if "${title}" is what the harbour office reports, otherwise to No.`;
}

/** Recurring events: number `n` opens at `n * periodSlots` and trades for `lifeSlots`. */
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

/** The two sources of markets that the service knows, by the reference's neutral names. */
export const PROVIDERS = ['provider_a', 'provider_b'] as const;
type Provider = (typeof PROVIDERS)[number];

export type Category = 'crypto' | 'sports' | 'politics' | 'esports' | 'culture' | 'economics' | 'tech';

export type Outcome = 'yes' | 'no' | 'cancelled';

/** The plan of a market. */
export interface MarketPlan extends PredictionMarketOptions {
  readonly title: string;
  readonly rules: string;
  readonly isTeam?: boolean;
  /** The slots, counted from the start, at which trading ended, or was halted without a result yet. */
  readonly ended?: { readonly haltSlot: number; readonly resolveSlot?: number; readonly outcome?: Outcome };
}

/** The plan of an event. Titles and rules come from a venue and are untrusted. */
export interface EventPlan {
  readonly eventId: string;
  readonly provider: Provider;
  readonly category: Category;
  readonly subcategory: string;
  readonly series: string;
  readonly title: string;
  readonly subtitle: string;
  readonly tags: readonly string[];
  readonly closeCondition: string;
  readonly isLive?: boolean;
  /**
   * At most one of its markets resolves to yes; otherwise a market that is likelier than one that did resolves to yes
   * too.
   */
  readonly isExclusive?: boolean;
  readonly volumeUsdPerDay: number;
  readonly markets: readonly MarketPlan[];
}
