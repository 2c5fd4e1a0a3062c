import { map } from 'rxjs';
import { debounceTime } from '../../../../src/strategy/index.ts';
import { strategyOf } from '../planted/harness.ts';

/** Speaks when nothing was said for a while. */
export default strategyOf('quiet', ({ price }, { context }) =>
  price.pipe(debounceTime(context, '6s'), map(({ price: last }) => context.alert('info', `quiet at ${last}`))));
