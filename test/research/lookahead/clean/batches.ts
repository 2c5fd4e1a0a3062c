import { map } from 'rxjs';
import { bufferTime } from '../../../../src/strategy/index.ts';
import { strategyOf } from '../planted/harness.ts';

/** Collects what comes within half a minute. */
export default strategyOf('batches', ({ price }, { context }) =>
  price.pipe(bufferTime(context, '30s'), map((some) => context.alert('info', `${some.length} prices`))));
