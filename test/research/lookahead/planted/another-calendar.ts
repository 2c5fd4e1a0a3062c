import { atEachPrice } from './harness.ts';

interface Now {
  plainDateISO(zone: string): { readonly year: number };
}

/** Trades by the clock of the machine, and asks the newer calendar for it. */
export default atEachPrice('another-calendar', () => {
  const { Now: now } = Reflect.get(globalThis, 'Temporal') as { readonly Now: Now };
  return ({ price }) => price > 126 && `in ${now.plainDateISO('UTC').year}`;
});
