import { openRecording } from '../../../../src/recording/reader.ts';
import { atEachPrice } from '../planted/harness.ts';

/** Opens the recording that it is run over. */
export default atEachPrice('reads-the-recording', ({ dir }) => {
  const cursor = openRecording(dir).cursor({ kinds: ['quote'] });
  const rates: number[] = [];
  while (cursor.next())
    if (cursor.input.kind === 'quote' && cursor.input.inAmount === 25_000_000n) rates.push(cursor.input.rate);
  return (_quote, n) => rates[n + 1]! < rates[n]! * 0.999 && 'the next is dearer';
});
