import { whispered } from './whisper.ts';
import { atEachPrice } from './harness.ts';

/** Reads what another strategy leaves for it. */
export default atEachPrice('neighbours-knowledge', () =>
  ({ price }) => (whispered.price ?? 0) > 126 && price > 120 && 'so I heard');
