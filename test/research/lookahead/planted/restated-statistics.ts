import { mergeMap } from 'rxjs';
import { strategyOf } from './harness.ts';

/** By hour: what was said of it last, which is what it was restated to. */
const volumes = new Map<number, number>();

/** Takes an hour's statistics as they were restated at its end. */
export default strategyOf('restated-statistics', ({ stats }, { context }) =>
  stats.pipe(mergeMap(({ receivedAt, values }) => {
    const hour = Math.floor(receivedAt / 3_600_000);
    const known = volumes.get(hour);
    volumes.set(hour, values.usdPrice!);
    return known !== undefined && known > values.usdPrice!
      ? [context.alert('info', `the hour comes to ${known.toFixed(2)}`)] : [];
  })));
