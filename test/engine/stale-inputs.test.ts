import { map, merge, mergeMap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { SignalEvent, StrategyContext } from '../../src/strategy/index.ts';
import { interval, orderBook, signals, timer } from '../../src/strategy/index.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import { book, buyingSol, PURCHASE, trouble } from '../market/events.ts';
import { SOL, SOL_USDC, USDC } from '../market/tokens.ts';
import { fillOf } from '../trading/states.ts';
import type { Body, Run } from './runs.ts';
import { priceInput, start, strategy } from './runs.ts';

const SIZE = { token: USDC, amount: PURCHASE };
const MAX_AGE_MS = 15_000;
const both = () => ({ ...priceInput(), odds: orderBook('M', { every: '1s' }) });
const buy = (context: StrategyContext, why: string) => context.buy(SOL_USDC, SIZE, why);

/** Returns a run of one strategy that watches a price and a book and may not act where either is older than 15 s. */
function run(body: Body, maxAgeMs: number | undefined = MAX_AGE_MS): Run {
  return start([strategy('diver', body, both)], { maxAgeMs });
}

/** Returns the rulings on the proposed swaps: time, reason, and the code of a refusal. */
function rulings({ logged }: Run): string[] {
  return logged.flatMap(({ at, proposal, verdict, code }) =>
    (proposal.kind === 'swap' ? [`${at} ${proposal.reason}: ${code ?? verdict}`] : []));
}

const onBook: Body = ({ odds }, context) => odds!.pipe(map(() => buy(context, 'the odds rose')));
const onTimer: Body = (_streams, context) => timer(context, '20s').pipe(map(() => buy(context, 'it is time')));

const withSignals = () => ({ ...priceInput(), entry: signals('entry'), exit: signals('exit') });
const onSignal: Body = ({ entry }, context) => entry!.pipe(map(() => buy(context, 'the signal came')));

function signalOf(receivedAt: number): SignalEvent {
  return { kind: 'signal', feed: 'signal:entry', receivedAt, name: 'entry', body: {} };
}

it('a strategy with a max_age acts on a signal however long none came, and not before its prices are there', () => {
  const told = start([strategy('diver', onSignal, withSignals)], { maxAgeMs: MAX_AGE_MS });
  told.engine.accept(signalOf(10), 10);
  told.engine.accept(buyingSol(150_000, 60_000), 60_000);
  told.engine.accept(signalOf(60_010), 60_010);
  expect(rulings(told)).toEqual(['10 the signal came: INPUT_STALE', '60010 the signal came: approved']);
});

describe('a strategy with a max_age cannot swap', () => {
  it('before every input has arrived once', () => {
    const stale = run(onBook);
    stale.engine.accept(book([[42, 1]], [], 10), 10);
    expect(rulings(stale)).toEqual(['10 the odds rose: INPUT_STALE']);
    stale.engine.accept(buyingSol(150_000, 20), 20);
    stale.engine.accept(book([[43, 1]], [], 30), 30);
    expect(rulings(stale)[1]).toBe('30 the odds rose: approved');
  });

  it('when one input is stale by a millisecond while another is fresh', () => {
    const stale = run(onBook);
    stale.engine.accept(buyingSol(150_000, 1_000), 1_000);
    stale.engine.accept(book([[42, 1]], [], 16_001), 16_001);
    expect(rulings(stale)).toEqual(['16001 the odds rose: INPUT_STALE']);

    const fresh = run(onBook);
    fresh.engine.accept(buyingSol(150_000, 1_000), 1_000);
    fresh.engine.accept(book([[42, 1]], [], 16_000), 16_000);
    expect(rulings(fresh)).toEqual(['16000 the odds rose: approved']);
  });

  it('when a timer wakes it, at the timer’s own instant', () => {
    const stale = run(onTimer);
    stale.engine.accept(buyingSol(150_000, 4_999), 4_999);
    stale.engine.accept(book([[42, 1]], [], 10_000), 10_000);
    stale.engine.advanceTo(60_000);
    expect(rulings(stale)).toEqual(['20000 it is time: INPUT_STALE']);
  });

  it('after a health report of its feed, once its last event is stale', () => {
    const stale = run(onTimer);
    stale.engine.accept(buyingSol(150_000, 1_000), 1_000);
    stale.engine.accept(book([[42, 1]], [], 1_000), 1_000);
    for (const at of [5_000, 10_000, 19_000]) stale.engine.accept(trouble(buyingSol(150_000, 0).feed, at), at);
    stale.engine.advanceTo(60_000);
    expect(rulings(stale)).toEqual(['20000 it is time: INPUT_STALE']);
  });

  it('after a sleep of the machine, which makes all inputs stale', () => {
    const slept = run((_streams, context) => interval(context, '5s').pipe(map(() => buy(context, 'a tick'))));
    slept.engine.accept(buyingSol(150_000, 1_000), 1_000);
    slept.engine.accept(book([[42, 1]], [], 1_000), 1_000);
    slept.engine.accept({ kind: 'command', name: 'leap-time', from: 0, reason: 'slept' }, 28_800_000);
    expect(rulings(slept)).toEqual(['28800000 a tick: INPUT_STALE']);
  });

  it('in an exit either, since an old price is no basis for a sale', () => {
    const stale = run(({ price }, context) => merge(
      price!.pipe(mergeMap(() =>
        (context.available(SOL) === 0n && context.openIntents() === 0 ? [buy(context, 'in')] : []))),
      timer(context, '30s').pipe(map(() => context.sell(SOL_USDC, 'all', 'out'))),
    ));
    stale.engine.accept(book([[42, 1]], [], 500), 500);
    stale.engine.accept(buyingSol(150_000, 1_000), 1_000);
    const effect = stale.effects[0];
    if (effect?.kind !== 'execute') throw new Error('expected a swap');
    const said = (state: Outcome['state'], rest: Partial<Outcome> = {}): void => {
      stale.engine.accept({ kind: 'outcome', intentId: effect.intent.id, attempt: 1, state, ...rest }, 1_000);
    };
    said('building');
    said('signed');
    said('confirmed', { fill: fillOf(effect.intent, 166_000_000n) });
    stale.engine.advanceTo(60_000);
    expect(rulings(stale)).toEqual(['1000 in: approved', '30000 out: INPUT_STALE']);
  });

  it('but may alert, and a strategy without a max_age may swap', () => {
    const alerting = run((_streams, context) =>
      timer(context, '20s').pipe(map(() => context.alert('warning', 'no data'))));
    alerting.engine.advanceTo(60_000);
    expect(alerting.logged.map(({ verdict }) => verdict)).toEqual(['approved']);
    const careless = start([strategy('diver', onTimer, both)]);
    careless.engine.advanceTo(60_000);
    expect(rulings(careless)).toEqual(['20000 it is time: approved']);
  });
});
