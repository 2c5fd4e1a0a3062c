import { map } from 'rxjs';
import { interval } from '../../../../src/strategy/index.ts';
import { strategyOf } from '../planted/harness.ts';

/** Buys at regular times. */
export default strategyOf('clockwork', ({ price: _price }, { context }) =>
  interval(context, '45s').pipe(map((n) => context.alert('info', `tick ${n}`))));
