import { atEachPrice } from '../planted/harness.ts';

/** Reads and makes dates that say of which zone they are. */
export default atEachPrice('parsed-dates', ({ now }) => {
  const opens = Date.parse('2026-01-05T08:05:00Z');
  const closes = new Date('2026-01-05T09:15+01:00');
  const day = new Date('2026-01-05');
  return ({ price }) => now() > opens && now() < closes.getTime() && price > 126
    && `${day.getUTCHours()} ${Date.UTC(2026, 0, 5)} ${new Date(now()).getUTCHours()}`;
});
