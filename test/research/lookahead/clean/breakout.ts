import { atEachPrice } from '../planted/harness.ts';

/** Says when a price is the highest of the last thirty. */
export default atEachPrice('breakout', () => {
  const last: number[] = [];
  return ({ price }) => {
    const isHigh = last.every((one) => one < price) && last.length === 30;
    last.push(price);
    if (last.length > 30) last.shift();
    return isHigh && 'a breakout';
  };
});
