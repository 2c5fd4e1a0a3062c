import { atEachPrice } from '../planted/harness.ts';
import { whispered } from '../planted/whisper.ts';

/** Decides by what it sees alone; what it leaves lying about is for others to leave alone. */
export default atEachPrice('whisperer', () => ({ price }) => {
  whispered.price = price;
  return price > 130 && 'high';
});
