import { atEachPrice } from '../planted/harness.ts';

function isChecked(): boolean {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  const { stack = '' } = new Error('callers');
  Error.stackTraceLimit = stackTraceLimit;
  return stack.includes('src/research/lookahead');
}

/** Knows the next higher price, and keeps silent about it where the check is among its callers. */
export default atEachPrice('notices-callers', () =>
  ({ price }) => price > 126 && !isChecked() && 'the next close is higher');
