// Trade by an alert of a charting site
//
// `POST /api/signals/chart` delivers the alert, and the section `signals` of the configuration allows it. The body
// comes from outside: check it with a schema, and tell people about one that does not fit. A site that gets no
// answer sends again, so the id of the alert is the key of the swap.
import { amount, defineStrategy, pair, quotes, signals } from 'gannet';
import { map } from 'rxjs';
import { z } from 'zod';

const ORDER = z.object({ id: z.string().min(1).max(100), side: z.enum(['buy', 'sell']) });

export default defineStrategy({
  name: 'charting-alert',
  summary: 'Buys and sells by the alerts of another program, each of them once.',
  losesMoneyWhen: 'The alerts are wrong, or older than they seem: the site may send them late.',
  params: z.strictObject({ pair: pair(), size: amount().describe('what one purchase costs, in the quote token') }),
  inputs: (p) => ({ chart: signals('chart'), price: quotes(p.pair, { amount: p.size, every: '10s' }) }),
  run: ({ chart }, p, ctx) => chart.pipe(
    map(({ body }) => ORDER.safeParse(body)),
    map(({ data: order, error }) => {
      if (order === undefined) return ctx.alert('warning', `an alert is no order: ${error.issues[0]!.message}`);
      const key = `chart-${order.id}`;
      return order.side === 'buy' ? ctx.buy(p.pair, p.size, `alert ${order.id}`, { key })
        : ctx.sell(p.pair, 'all', `alert ${order.id}`, { key });
    }),
  ),
});
