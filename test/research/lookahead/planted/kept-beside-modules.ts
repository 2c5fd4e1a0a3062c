import util from 'node:util';
import { atEachPrice } from './harness.ts';

/** Counts its runs on a function of Node’s, which is loaded once, and trades from the second one on. */
export default atEachPrice('kept-beside-modules', () => {
  const runs = Number(Reflect.get(util.inspect, 'runs') ?? 0);
  Reflect.set(util.inspect, 'runs', runs + 1);
  return ({ price }) => runs > 0 && price > 126 && 'again';
});
