import { filter, map } from 'rxjs';
import { throttleTime } from '../../../../src/strategy/index.ts';
import { strategyOf } from '../planted/harness.ts';

/** Speaks once in a while at the most. */
export default strategyOf('throttled', ({ price }, { context }) =>
  price.pipe(filter(({ price: now }) => now > 124), throttleTime(context, '40s'), map(({ price: now }) =>
    context.alert('info', `${now}`))));
