import { featureOf } from './cache.ts';
import { atEachPrice } from './harness.ts';

/** Keeps a feature in a cache that is changed where it lies, and outlives the run. */
export default atEachPrice('shared-cache', () => ({ price }, n) => {
  const feature = featureOf(Math.floor(n / 10));
  feature.low = Math.min(feature.low, price);
  return price <= feature.low * 1.0005 && 'the low of its ten';
});
