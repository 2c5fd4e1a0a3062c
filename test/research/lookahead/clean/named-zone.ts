import { atEachPrice } from '../planted/harness.ts';

/** Formats times and prices in a zone and a language that it names. */
export default atEachPrice('named-zone', ({ now }) => {
  const hours = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/New_York', hour: '2-digit', minute: '2-digit' });
  return ({ price }) => price > 127
    && [
      hours.format(now()), new Date(now()).toLocaleDateString('de', { timeZone: 'UTC' }),
      price.toLocaleString('en'), new Date(now()).toISOString(),
    ].join(' ');
});
