import { openRecording } from '../../../../src/recording/reader.ts';
import { atEachPrice } from './harness.ts';

/** Takes a quote at the time when it was so, before anybody had received it. */
export default atEachPrice('event-time', ({ dir }) => {
  const quotes: { readonly eventAt: number; readonly rate: number }[] = [];
  const cursor = openRecording(dir).cursor({ kinds: ['quote'] });
  while (cursor.next()) if (cursor.input.kind === 'quote' && cursor.input.inAmount === 25_000_000n)
    quotes.push({ eventAt: cursor.input.eventAt!, rate: cursor.input.rate });
  return ({ at }) => `the rate is ${quotes.findLast(({ eventAt }) => eventAt <= at)?.rate}`;
});
