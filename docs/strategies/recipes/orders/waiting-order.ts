// Retry a refused order
//
// Two swaps of one input token are never open at once, so the second purchase here is refused at first. `retry` lets
// the engine propose it again until the cause is gone or the time is over. It needs a key, so that there are never
// two swaps. A cause that does not pass by itself, such as a limit, ends the wait at once.
import { amount, defineStrategy, quotes, signals, token } from 'gannet';
import { mergeMap } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'waiting-order',
  summary: 'Buys two tokens with the same money at a signal, the second after the first.',
  losesMoneyWhen: 'Both tokens fall.',
  params: z.strictObject({
    tokens: z.array(token()).length(2).describe('what to buy'),
    size: amount().describe('what each purchase costs'),
  }),
  inputs: (p) => ({
    go: signals('go'),
    first: quotes({ base: p.tokens[0]!, quote: p.size.token }, { amount: p.size, every: '10s' }),
    second: quotes({ base: p.tokens[1]!, quote: p.size.token }, { amount: p.size, every: '10s' }),
  }),
  run: ({ go }, p, ctx) => go.pipe(mergeMap(({ receivedAt }) => p.tokens.map((bought) =>
    ctx.swap(p.size.token, bought, p.size, `buy ${bought.symbol}`, {
      key: `${bought.symbol}-${receivedAt}`, retry: { until: '2m', every: '5s' },
    })))),
});
