import { interval } from '../../../../src/strategy/index.ts';
import { atEachPrice } from './harness.ts';

/** Hangs what it has seen on a function of the SDK, which is loaded once. */
export default atEachPrice('kept-on-the-sdk', () => {
  const seen = (Reflect.get(interval, 'memory') as Map<number, number> | undefined) ?? new Map<number, number>();
  Reflect.set(interval, 'memory', seen);
  return ({ at, price }) => {
    seen.set(at, price);
    return [...seen.values()].every((one) => one <= price) && 'the highest';
  };
});
