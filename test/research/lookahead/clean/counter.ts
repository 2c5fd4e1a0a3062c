import { filter, map } from 'rxjs';
import { strategyOf } from '../planted/harness.ts';

/** Keeps a count beyond a restart. */
export default strategyOf('counter', ({ price }, { context }) => price.pipe(
  context.stateful('count', 0, (count: number) => count + 1), filter(({ state }) => state % 9 === 0),
  map(({ state }) => context.alert('info', `${state} prices`)),
));
