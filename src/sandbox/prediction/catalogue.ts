import { indexedRandom } from '../market/indexed-random.ts';
import type { PredictionMarket } from '../market/prediction-market.ts';
import { createPredictionMarket } from '../market/prediction-market.ts';
import type { EventPlan, EventSeries, MarketPlan, Outcome } from './event-plans.ts';
import { LASTING_EVENTS, recurringEvents } from './event-plans.ts';

/** A market with its slots, counted from the sandbox's start. */
export interface Listing {
  readonly marketId: string;
  readonly event: ListedEvent;
  readonly plan: MarketPlan;
  readonly prices: PredictionMarket;
  readonly openSlot: number;
  /** Trading stops here. */
  readonly haltSlot: number;
  /** The announced end; trading may be halted before it. */
  readonly closeSlot: number;
  readonly resolveSlot: number;
  /** How it resolves unless the operator decides otherwise. */
  readonly outcome: Outcome;
}

/** An event with its slots and its markets. */
export interface ListedEvent {
  readonly plan: EventPlan;
  readonly openSlot: number;
  readonly closeSlot: number;
  /** Whether it exists from the first slot on; the others are recurring. */
  readonly isLasting: boolean;
  readonly markets: readonly Listing[];
}

/** All past, present and future events and markets: functions of the seed and of time, made on request. */
export interface Catalogue {
  /** Returns an event that has opened by `slot`. */
  event(eventId: string, slot: number): ListedEvent | undefined;
  market(marketId: string, slot: number): Listing | undefined;
  /**
   * Returns the events that are listed at `slot`: the lasting ones, and the recurring ones that trade or have just
   * ended.
   */
  events(slot: number): readonly ListedEvent[];
}

/** Before the first slot: the lasting markets opened then, and no recurring event is older than the oldest number. */
const LASTING_OPEN_SLOT = -240_000;
const OLDEST_NUMBER = -200;
const LASTING_LIFE_MS = 400 * 86_400_000;
const SLOTS_TO_RESOLVE = 75;
/** How many ended events of a series are still listed. */
const ENDED_SHOWN = 4;
const MOST_KEPT = 400;

/** Returns the catalogue of a seed. */
export function createCatalogue(options: { seed: string; timeline: Timeline }): Catalogue {
  const { seed } = options;
  const verdicts = indexedRandom(`${seed}:verdicts`);
  const lastingClose = options.timeline.slotsIn(LASTING_LIFE_MS);
  const lasting = LASTING_EVENTS.map((plan, i) =>
    listedEvent(plan, {
      seed, isLasting: true, openSlot: LASTING_OPEN_SLOT, closeSlot: lastingClose, luck: verdicts(i, 1),
    }));
  const lastingByEvent = new Map(lasting.map((event) => [event.plan.eventId, event]));
  const lastingByMarket = new Map(lasting.flatMap(({ markets }) => markets.map((market) => [market.marketId, market])));
  const series = recurringEvents(seed);
  const made = new Map<string, ListedEvent>();

  const recurring = (kind: EventSeries, number: number): ListedEvent => {
    const eventId = kind.idOf(number);
    const known = made.get(eventId);
    if (known !== undefined) return known;
    const openSlot = number * kind.periodSlots;
    const event = listedEvent(kind.plan(number), {
      seed, isLasting: false, openSlot, closeSlot: openSlot + kind.lifeSlots,
      luck: verdicts(number, 2 + series.indexOf(kind)),
    });
    // They are created again when needed, since a sandbox that runs for months must not keep them all.
    if (made.size >= MOST_KEPT) made.clear();
    made.set(eventId, event);
    return event;
  };

  const event: Catalogue['event'] = (eventId, slot) => {
    const known = lastingByEvent.get(eventId) ?? made.get(eventId);
    if (known !== undefined) return known.openSlot <= slot ? known : undefined;
    for (const kind of series) {
      const number = kind.numberOf(eventId);
      if (number !== undefined && number >= OLDEST_NUMBER && number * kind.periodSlots <= slot)
        return recurring(kind, number);
    }
    return undefined;
  };

  return {
    event,
    market(marketId, slot) {
      const known = lastingByMarket.get(marketId);
      if (known !== undefined) return known;
      for (const kind of series) {
        const eventId = kind.eventIdOf(marketId);
        const market = eventId === undefined ? undefined
          : event(eventId, slot)?.markets.find((candidate) => candidate.marketId === marketId);
        if (market !== undefined) return market;
      }
      return undefined;
    },
    events(slot) {
      const now = series.flatMap((kind) => {
        const newest = Math.floor(slot / kind.periodSlots);
        const shown = Math.ceil(kind.lifeSlots / kind.periodSlots) + ENDED_SHOWN;
        return Array.from({ length: shown }, (_, age) => recurring(kind, newest - age));
      });
      return [...lasting, ...now];
    },
  };
}

function listedEvent(plan: EventPlan, life: {
  seed: string; isLasting: boolean; openSlot: number; closeSlot: number; luck: number;
}): ListedEvent {
  const outcomes = outcomesOf(plan, life.luck);
  const markets: Listing[] = [];
  const event: ListedEvent =
    { plan, openSlot: life.openSlot, closeSlot: life.closeSlot, isLasting: life.isLasting, markets };
  plan.markets.forEach((market, i) => {
    const { ended } = market;
    const closeSlot = ended?.resolveSlot === undefined ? life.closeSlot : ended.haltSlot;
    markets.push({
      marketId: market.marketId, event, plan: market, openSlot: life.openSlot, closeSlot,
      prices: createPredictionMarket({ ...market, seed: life.seed }),
      haltSlot: ended?.haltSlot ?? closeSlot,
      resolveSlot: ended?.resolveSlot ?? closeSlot + SLOTS_TO_RESOLVE,
      outcome: ended?.outcome ?? outcomes[i]!,
    });
  });
  return event;
}

/** One draw decides all markets of an event, so that they cannot contradict each other. */
function outcomesOf(plan: EventPlan, luck: number): Outcome[] {
  let from = 0;
  return plan.markets.map(({ probability }) => {
    const wins = luck >= from && luck < from + probability;
    if (plan.isExclusive === true) from += probability;
    return wins ? 'yes' : 'no';
  });
}

/** The sandbox's time as the prediction exchange counts it: in the clock's slots, 0 at the start, negative before. */
export interface Timeline {
  now(): number;
  /** Returns the Unix time of a slot, in whole seconds. */
  unixSeconds(slot: number): number;
  /** Returns the same time in ISO 8601, in UTC. */
  isoTime(slot: number): string;
  /** Returns how many slots of the sandbox's clock make up a span of real time, at least one. */
  slotsIn(ms: number): number;
  /** Returns the number that the chain gives to a slot. */
  chainSlot(slot: number): number;
  /** Returns the step of the market at a slot: a market of speed 0 stands still, but had a past. */
  step(slot: number): number;
  /** Whether the market moves at all. */
  readonly moves: boolean;
}

/** Returns the timeline of a sandbox. */
export function createTimeline(options: {
  readonly now: () => number; readonly startedAtMs: number; readonly slotMs: number; readonly speed: number;
  readonly firstChainSlot: number;
}): Timeline {
  const unixSeconds = (slot: number): number => Math.floor((options.startedAtMs + slot * options.slotMs) / 1_000);
  return {
    now: options.now,
    unixSeconds,
    isoTime: (slot) => new Date(unixSeconds(slot) * 1_000).toISOString(),
    slotsIn: (ms) => Math.max(1, Math.round(ms / options.slotMs)),
    chainSlot: (slot) => options.firstChainSlot + slot,
    moves: options.speed > 0,
    step: (slot) => (slot < 0 ? slot : Math.floor(slot * options.speed)),
  };
}
