// Change the shape of a kept state
//
// A new version of a strategy finds the state that the earlier one kept. A schema with a union reads both: its
// transform makes the new shape of the older one. Without a schema, a state of another shape stops the strategy with
// a message; `misfit: 'initial'` begins with a new state instead. Test both with `savedState`.
import { defineStrategy, signals } from 'gannet';
import type { SignalEvent } from 'gannet';
import { map } from 'rxjs';
import { z } from 'zod';

const STATE = z.union([
  z.strictObject({ count: z.number(), last: z.number().nullable() }),
  // The first version kept the count alone.
  z.number().transform((count) => ({ count, last: null })),
]);

export default defineStrategy({
  name: 'changed-state',
  summary: 'Counts the signals of another program, over restarts and versions.',
  losesMoneyWhen: 'It never trades.',
  params: z.strictObject({ signal: z.string().default('ping').describe('the name of the signal') }),
  inputs: (p) => ({ ping: signals(p.signal) }),
  run: ({ ping }, _params, ctx) => {
    const seen = ctx.stateful('seen', { count: 0, last: null },
      ({ count }, { receivedAt }: SignalEvent) => ({ count: count + 1, last: receivedAt }), { schema: STATE });
    return ping.pipe(seen, map(({ state: { count } }) => ctx.alert('info', `signal ${count}`)));
  },
});
