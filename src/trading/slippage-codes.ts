/**
 * Numbers with which swap programs say that the output came out below the minimum: of the router the service uses (a
 * minimum of the output, a maximum of the input). Nodes write them in decimal, some tools in hex.
 */
const SLIPPAGE_NUMBERS: ReadonlySet<number> = new Set([6_001, 6_017]);
/** What others call it, letters only. */
const SLIPPAGE_NAMES: ReadonlySet<string> = new Set([
  'slippagetoleranceexceeded', 'exceededslippage', 'slippageexceeded', 'exactoutamountnotmatched',
  'amountoutbelowminimum',
]);

/** Returns whether a transaction's error code says that the price had moved too far: "6001", "0x1771" or a name. */
export function isSlippageCode(code: string | undefined): boolean {
  if (code === undefined) return false;
  if (/^(?:\d{1,10}|0x[\da-f]{1,8})$/i.test(code)) return SLIPPAGE_NUMBERS.has(Number(code));
  return SLIPPAGE_NAMES.has(code.toLowerCase().replace(/[^a-z]/g, ''));
}
