import { map, NEVER } from 'rxjs';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import type { Strategy } from '../../src/strategy/index.ts';
import { defineStrategy, quotes } from '../../src/strategy/index.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { SOL_USDC, USDC } from '../market/tokens.ts';
import { amount } from '../../src/core/amount.ts';
import { start } from './runs.ts';

type Run = Parameters<typeof defineStrategy>[0]['run'];

function onPrice(run: Run): Strategy {
  return defineStrategy({
    name: 'own', summary: 'Has a mistake.', params: z.unknown(), run,
    inputs: () => ({ price: quotes(SOL_USDC, { amount: { token: USDC, amount: amount(PURCHASE) }, every: '5s' }) }),
  });
}

function stopOf(run: Run): { readonly reason: string; readonly place: string | undefined } {
  const own = start([{ name: 'own', strategy: onPrice(run), params: undefined }]);
  own.engine.accept(buyingSol(150_000, 1_000), 1_000);
  const [stopped] = own.engine.stopped;
  return { reason: stopped!.reason, place: stopped!.place };
}

describe('a mistake of an author', () => {
  it('names an input that run takes and inputs does not declare', () => {
    const { reason } = stopOf((inputs) => {
      const { prize } = inputs as unknown as Record<string, typeof inputs.price>;
      return prize!.pipe(map(() => undefined as never));
    });
    expect(reason).toMatch(/^run takes the input "prize", which inputs does not declare \(declared: "price"\): Cannot/);
  });

  it('leaves an input that is not declared undefined, where run does without it', () => {
    const strategy = onPrice((inputs) => (inputs['other'] === undefined ? NEVER : inputs['other'] as never));
    const own = start([{ name: 'own', strategy, params: undefined }]);
    expect(own.engine.running).toEqual(['own']);
  });

  it('names the line of the call that made a malformed proposal', () => {
    const { reason, place } = stopOf(({ price }, _p, ctx) => price!.pipe(map(() =>
      ctx.buy(SOL_USDC, 'all', 'now', { slippageBps: NaN as never }))));
    expect(reason).toBe('expected whole basis points of 0 to 10000 as slippage, got NaN');
    expect(place).toMatch(/^author-errors\.test\.ts:\d+:\d+$/);
  });
});
