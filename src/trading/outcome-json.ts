import type { Amount, Lamports } from '../core/amount.ts';
import type { Fill, Outcome } from './intent.ts';

type WideMember = 'quotedOut' | 'lastValidBlockHeight' | 'feeLamports' | 'slot';
type OutcomeText = Omit<Outcome, WideMember | 'fill'> & { readonly [K in WideMember]?: string } & { readonly fill?: FillText };
type FillAmount = 'amountIn' | 'amountOut' | 'feeLamports' | 'rentLamports';
type FillText = Omit<Fill, FillAmount> & { readonly [K in FillAmount]: string };

/** Returns the outcome in a JSON text of our own, amounts as bigint again. */
export function readOutcome(text: string): Outcome {
  const { quotedOut, lastValidBlockHeight, feeLamports, slot, fill, ...rest } = JSON.parse(text) as OutcomeText;
  return {
    ...rest,
    ...(quotedOut === undefined ? {} : { quotedOut: BigInt(quotedOut) as Amount }),
    ...(lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight: BigInt(lastValidBlockHeight) }),
    ...(feeLamports === undefined ? {} : { feeLamports: BigInt(feeLamports) as Lamports }),
    ...(slot === undefined ? {} : { slot: BigInt(slot) }),
    ...(fill === undefined ? {} : { fill: readFill(fill) }),
  };
}

function readFill(fill: FillText): Fill {
  return {
    ...fill,
    amountIn: BigInt(fill.amountIn) as Amount,
    amountOut: BigInt(fill.amountOut) as Amount,
    feeLamports: BigInt(fill.feeLamports) as Lamports,
    rentLamports: BigInt(fill.rentLamports) as Lamports,
  };
}
