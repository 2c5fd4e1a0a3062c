import { atEachPrice } from './harness.ts';

/** Trades by the clock of the machine, which it asks for in words. */
export default atEachPrice('clock-in-words', () => {
  const year = new Intl.DateTimeFormat('en', { year: 'numeric' });
  return ({ price }) => price > 128 && `in ${year.format()}`;
});
