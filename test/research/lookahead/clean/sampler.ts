import { map } from 'rxjs';
import { sampleTime } from '../../../../src/strategy/index.ts';
import { strategyOf } from '../planted/harness.ts';

/** Samples prices at its own times. */
export default strategyOf('sampler', ({ price }, { context }) =>
  price.pipe(sampleTime(context, '17s'), map(({ price: last }) => context.alert('info', `sampled ${last}`))));
