import { atEachPrice } from './harness.ts';

/** Asks a server while it is loaded; a refused connection is an answer too. */
const level = await fetch('http://127.0.0.1:9/level')
  .then(() => 126, (error: unknown) => (error instanceof TypeError ? 127 : 128));

export default atEachPrice('fetched-at-import', () => ({ price }) => price > level && 'above the level');
