import { atEachPrice } from './harness.ts';

const board = globalThis as { gannetHigh?: number };

/** Leaves its highest price in a global variable. */
export default atEachPrice('global-variable', () => ({ price }) => {
  board.gannetHigh = Math.max(board.gannetHigh ?? 0, price);
  return price >= board.gannetHigh && 'a new high';
});
