import { atEachPrice } from './harness.ts';

let later = 0;
let pending: NodeJS.Timeout | undefined;

/** Lets the event loop remember the last price, which is after the run. */
export default atEachPrice('late-timer', () => ({ price }) => {
  clearTimeout(pending);
  pending = setTimeout(() => { later = price; }, 0);
  return later > price && 'below what comes later';
});
