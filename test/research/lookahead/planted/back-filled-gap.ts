import { atEachPrice } from './harness.ts';

const known = new Map<number, number>();

/** Fills a gap with the first price after it. */
export default atEachPrice('back-filled-gap', () => {
  let before = 0;
  return ({ at, price }) => {
    known.set(at, price);
    const isGap = at - before > 5_000;
    before = at;
    const filled = [...known].filter(([when]) => when > at).sort(([a], [b]) => a - b)[0]?.[1] ?? price;
    return isGap && `the gap is filled with ${filled}`;
  };
});
