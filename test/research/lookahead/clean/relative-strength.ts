import { atEachPrice } from '../planted/harness.ts';

/** Measures how much of the last moves went up. */
export default atEachPrice('relative-strength', () => {
  let before = 0;
  let up = 0;
  let all = 1e-9;
  return ({ price }) => {
    const move = before === 0 ? 0 : price - before;
    before = price;
    up = 0.9 * up + Math.max(0, move);
    all = 0.9 * all + Math.abs(move);
    return (up / all > 0.95 || up / all < 0.05) && `strength ${(up / all).toFixed(4)}`;
  };
});
