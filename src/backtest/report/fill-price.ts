import type { InstrumentRecord, RecordedFill } from '../record/run-record.ts';

/** Returns what one whole token of an instrument was bought or sold for, in the currency; undefined where a swap was not of it, or has no value. */
export function fillPrice({ input, output, amountIn, amountOut, value }: RecordedFill, { symbol, decimals }: Pick<InstrumentRecord, 'symbol' | 'decimals'>): number | undefined {
  if (value === null || (input !== symbol && output !== symbol)) return undefined;
  const units = Number(output === symbol ? amountOut : amountIn) / 10 ** decimals;
  return units > 0 ? value / units : undefined;
}
