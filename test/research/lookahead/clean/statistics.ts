import { mergeMap, pairwise } from 'rxjs';
import { strategyOf } from '../planted/harness.ts';

/** Compares each statistic with the one before. */
export default strategyOf('statistics', ({ stats }, { context }) => stats.pipe(pairwise(), mergeMap(([a, b]) =>
  (b.values.usdPrice! > a.values.usdPrice! ? [context.alert('info', `up to ${b.values.usdPrice!.toFixed(4)}`)] : []))));
