import { delay, from, map, mergeMap, of, switchMap, take } from 'rxjs';
import type { Strategy } from '../../../../src/strategy/index.ts';
import type { CheckCode } from '../../../../src/research/strategy-check/check-codes.ts';
import { onPrice } from './frame.ts';

let starts = 0;
const { random } = Math;

/** Mistakes that show in a run, and in a second one, each with its code. */
export const RUN_MISTAKES: Readonly<Record<string, readonly [CheckCode, Strategy]>> = {
  'throws in run': ['THROWS', onPrice(() => { throw new Error('it is not ready'); })],
  'throws at an event': ['THROWS', onPrice(({ price }, _p, ctx) => price.pipe(map((quote, n) => {
    if (n === 40) throw new TypeError('no price');
    return ctx.alert('info', `${quote.price}`);
  })))],
  'proposes a slippage that is no number': ['THROWS', onPrice(({ price }, p, ctx) => price.pipe(map(() =>
    ctx.buy(p.pair, p.size, 'now', { slippageBps: NaN as never }))))],
  'proposes no proposal': ['THROWS', onPrice(({ price }) => price.pipe(map(() => 'buy' as never)))],
  'takes an input that is not declared': ['THROWS', onPrice((inputs, _p, ctx) =>
    (inputs as unknown as { prize: typeof inputs.price }).prize.pipe(map(() => ctx.alert('info', 'never'))))],
  'proposes without end at an instant': ['THROWS', onPrice(({ price }, _p, ctx) => price.pipe(mergeMap(() =>
    Array.from({ length: 2_000 }, () => ctx.alert('info', 'again')))))],
  'decides in a promise': ['DECIDES_LATE', onPrice(({ price }, _p, ctx) => price.pipe(switchMap(() =>
    from(Promise.resolve(ctx.alert('info', 'later'))))))],
  'waits by the machine’s clock': ['DECIDES_LATE', onPrice(({ price }, _p, ctx) => price.pipe(delay(10),
    map(() => ctx.alert('info', 'later'))))],
  'throws in the words of another mistake': ['THROWS', onPrice(({ price }) => price.pipe(map(() => {
    throw new Error('it is outside the engine’s time');
  })))],
  'completes': ['COMPLETES', onPrice(({ price }, _p, ctx) => price.pipe(take(30),
    map(() => ctx.alert('info', 'one of thirty'))))],
  'draws chance under another name': ['NOT_REPEATABLE', onPrice(({ price }, _p, ctx) => price.pipe(mergeMap(() =>
    (random() < 0.1 ? of(ctx.alert('info', 'by chance')) : []))))],
  'counts its starts outside of run': ['NOT_REPEATABLE', onPrice(({ price }, _p, ctx) => {
    starts += 1;
    const start = starts;
    return price.pipe(take(90), map(() => ctx.alert('info', `start ${start}`)));
  })],
  'reads the clock under another name': ['NOT_REPEATABLE', onPrice(({ price }, _p, ctx) => {
    const { now } = Reflect.get(globalThis, ['Da', 'te'].join('')) as DateConstructor;
    return price.pipe(take(90), map(() => ctx.alert('info', `at ${now()}`)));
  })],
};
