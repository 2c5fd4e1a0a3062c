import type { Amount, Lamports } from '../core/amount.ts';
import type { Fill, Outcome } from './intent.ts';
import type { CapRoom } from './spend-tally.ts';

type CapRoomText = Omit<CapRoom, 'left'> & { readonly left: string };
type WideMember = 'quotedOut' | 'lastValidBlockHeight' | 'feeLamports' | 'slot';
type OutcomeText = Omit<Outcome, WideMember | 'fill' | 'capRoom'> & { readonly [K in WideMember]?: string }
  & { readonly fill?: FillText; readonly capRoom?: CapRoomText };
type FillAmount = 'amountIn' | 'amountOut' | 'feeLamports' | 'rentLamports';
type FillText = Omit<Fill, FillAmount> & { readonly [K in FillAmount]: string };

/** Returns the outcome in a JSON text of our own, amounts as bigint again. */
export function readOutcome(text: string): Outcome {
  const { quotedOut, lastValidBlockHeight, feeLamports, slot, fill, capRoom, ...rest } =
    JSON.parse(text) as OutcomeText;
  return {
    ...rest,
    ...(quotedOut === undefined ? {} : { quotedOut: BigInt(quotedOut) as Amount }),
    ...(lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight: BigInt(lastValidBlockHeight) }),
    ...(feeLamports === undefined ? {} : { feeLamports: BigInt(feeLamports) as Lamports }),
    ...(slot === undefined ? {} : { slot: BigInt(slot) }),
    ...(fill === undefined ? {} : { fill: readFill(fill) }),
    ...(capRoom === undefined ? {} : { capRoom: { ...capRoom, left: BigInt(capRoom.left) as Amount } }),
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
