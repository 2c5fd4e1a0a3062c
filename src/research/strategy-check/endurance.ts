import type { BacktestStrategy } from '../../backtest/setup.ts';
import type { Amount } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { MarketEvent } from '../../market/event.ts';
import type { Proposal } from '../../trading/proposal.ts';
import { collectGarbage } from '../strategy-guards.ts';
import { firstAnswers, ownInputs, ReplayedStrategy } from './replayed-strategy.ts';
import type { Trace } from './trace.ts';

/** The deliveries after which the heap is measured. Lists that grow by half of their length grow in each part. */
const MARKS = [10_000, 25_000, 60_000] as const;
/** What a strategy may use of the processor in all; a slower one is measured over fewer deliveries. */
const MOST_MS: Millis = 1_500;
/** Growth per delivery in each part; less is noise, for compiled code comes and goes. A list of numbers takes 8. */
const LEAST_BYTES = [2, 5] as const;

/** What a strategy uses of the machine over many events. */
export interface Endurance {
  readonly deliveries: number;
  /** Processor time per delivery. */
  readonly microseconds: number;
  /** Bytes that each delivery added to what it keeps, in the part that added least; undefined where not measured. */
  readonly bytesPerDelivery: number | undefined;
  /** Whether what it keeps grew in every part by more than the measurement's noise. */
  readonly grows: boolean;
}

/**
 * Hands a strategy the recorded events over and over, each a copy at a later time and at a slightly other price, and
 * measures its processor time and what it keeps. All swaps that it proposes are refused.
 */
export function measureEndurance(trace: Trace, instance: BacktestStrategy, seed: number): Endurance | undefined {
  const own = ownInputs(instance);
  const events = trace.calls.flatMap(({ call }) =>
    (call.kind === 'event' && own.polled.has(call.input)
      ? [{ input: call.input, at: call.at, event: call.event }] : []));
  const [first] = events;
  if (first === undefined) return undefined;
  const strategy = new ReplayedStrategy(instance, seed, firstAnswers(trace.calls));
  strategy.call({ kind: 'start', at: first.at, warming: false, kept: undefined });
  const roundMs = events.at(-1)!.at - first.at + 1_000;
  const heaps: number[] = [];
  let usedMs = 0;
  let deliveries = 0;
  for (const mark of MARKS) {
    const begin = processorMs();
    while (deliveries < mark && usedMs + processorMs() - begin < MOST_MS) {
      // The processor time is read once for a few deliveries.
      for (let i = 0; i < 50 && deliveries < mark; i++) {
        const round = Math.floor(deliveries / events.length);
        deliver(strategy, events[deliveries % events.length]!, round, roundMs);
        deliveries += 1;
      }
      strategy.take();
    }
    usedMs += processorMs() - begin;
    if (strategy.failure !== undefined) return undefined;
    if (deliveries < mark) break;
    collectGarbage();
    heaps.push(process.memoryUsage().heapUsed);
  }
  const growths = heaps.slice(1).map((heap, i) => ({ bytes: heap - heaps[i]!, count: MARKS[i + 1]! - MARKS[i]! }));
  const complete = heaps.length === MARKS.length;
  return {
    deliveries, microseconds: (usedMs * 1_000) / deliveries,
    bytesPerDelivery: complete ? Math.min(...growths.map(({ bytes, count }) => bytes / count)) : undefined,
    grows: complete && growths.every(({ bytes, count }, part) => bytes / count > LEAST_BYTES[part]!),
  };
}

interface RecordedEvent {
  readonly input: number;
  readonly at: Millis;
  readonly event: MarketEvent;
}

function deliver(
  strategy: ReplayedStrategy, { input, at, event }: RecordedEvent, round: number, roundMs: Millis,
): void {
  const time = at + round * roundMs;
  const refuse = (proposals: readonly Proposal[], when: Millis): void => {
    for (const proposal of proposals) {
      if (proposal.kind !== 'swap') continue;
      const { key, tag } = proposal;
      strategy.call({ kind: 'denial', at: when, denial: {
        proposal, code: 'TRADING_HALTED', reason: 'the check carries out no swap', isPassing: false,
        ...(key === undefined ? {} : { key }), ...(tag === undefined ? {} : { tag }),
      } });
    }
  };
  strategy.advanceTo(time, refuse);
  refuse(strategy.call({ kind: 'event', input, at: time, event: moved(event, round, roundMs) }), time);
}

/** A copy of an event in a later round; the price of a quote is another one in each. */
function moved(event: MarketEvent, round: number, roundMs: Millis): MarketEvent {
  const receivedAt = event.receivedAt + round * roundMs;
  const times = event.eventAt === undefined ? { receivedAt }
    : { receivedAt, eventAt: event.eventAt + round * roundMs };
  if (event.kind !== 'quote') return { ...event, ...times };
  const outAmount = event.outAmount + BigInt(round) as Amount;
  return { ...event, ...times, outAmount, rate: Number(outAmount) / Number(event.inAmount) };
}

function processorMs(): Millis {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
