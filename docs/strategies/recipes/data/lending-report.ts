// Report the latest value once a day
//
// `sampleTime` emits the latest event at each interval of the engine's clock, and nothing where none is new. So a
// report costs no request more. Figures go into `data`, where programs read them; the message is for people. The
// service does not say in which unit earnings are.
import { defineStrategy, duration, lendEarnings, sampleTime } from 'gannet';
import { map } from 'rxjs';
import { z } from 'zod';

export default defineStrategy({
  name: 'lending-report',
  summary: 'Tells at an interval what an account has earned by lending.',
  losesMoneyWhen: 'It never trades.',
  params: z.strictObject({
    owner: z.string().describe('the address of the account'),
    positions: z.array(z.string()).min(1).describe('the addresses of its positions'),
    every: duration().default('1d').describe('how often to report'),
  }),
  inputs: (p) => ({ earned: lendEarnings(p.owner, p.positions, { every: '10m' }) }),
  run: ({ earned }, p, ctx) => earned.pipe(
    sampleTime(ctx, p.every),
    map(({ earnings }) => earnings.reduce((sum, one) => sum + one.earnings, 0)),
    map((total) => ctx.alert('info', `lending has earned ${total}`, { total })),
  ),
});
