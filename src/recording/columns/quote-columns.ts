import type { CodedTexts, WideValues } from './batch-columns.ts';
import type { Bitmap } from './bitmap.ts';
import type { StampColumns } from './block.ts';

/** The columns of quotes. */
export interface QuoteColumns extends StampColumns {
  readonly inputMint: CodedTexts;
  readonly outputMint: CodedTexts;
  readonly inAmount: WideValues;
  readonly outAmount: WideValues;
  readonly threshold: WideValues;
  readonly priceImpact: { readonly values: Float64Array; readonly valid: Bitmap };
  readonly contextSlot: WideValues;
  readonly router: CodedTexts;
  readonly feeBps: Uint16Array;
}
