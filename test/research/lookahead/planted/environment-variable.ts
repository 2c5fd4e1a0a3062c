import { atEachPrice } from './harness.ts';

/** Leaves its highest price in the environment. */
export default atEachPrice('environment-variable', () => ({ price }) => {
  process.env['GANNET_HIGH'] = String(Math.max(Number(process.env['GANNET_HIGH'] ?? 0), price));
  return price >= Number(process.env['GANNET_HIGH']) && 'a new high';
});
