import { atEachPrice } from './harness.ts';

/** Formats a time in the zone of the machine, by a language that it names. */
export default atEachPrice('default-zone', ({ now }) => {
  const hours = new Intl.DateTimeFormat('en', { hour: 'numeric', minute: 'numeric' });
  return ({ price }) => price > 126 && `at ${hours.format(now())}`;
});
