import type { Amount, Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import type { Command } from '../trading/command.ts';
import type { Fill, Outcome } from '../trading/intent.ts';

type FillText = { readonly [K in keyof Fill]: string };
type WideMember = 'quotedOut' | 'lastValidBlockHeight' | 'feeLamports';
type OutcomeText = Omit<Outcome, WideMember | 'fill'> & { readonly [K in WideMember]?: string } & { readonly fill?: FillText };

/** Returns the outcome in a JSON text, amounts as bigint again. The text is ours: its bytes were checked against their hash. */
export function readOutcome(text: string): Outcome {
  const { quotedOut, lastValidBlockHeight, feeLamports, fill, ...rest } = JSON.parse(text) as OutcomeText;
  return {
    ...rest,
    ...(quotedOut === undefined ? {} : { quotedOut: BigInt(quotedOut) as Amount }),
    ...(lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight: BigInt(lastValidBlockHeight) }),
    ...(feeLamports === undefined ? {} : { feeLamports: BigInt(feeLamports) as Lamports }),
    ...(fill === undefined ? {} : { fill: readFill(fill) }),
  };
}

/** Returns the command in a JSON text. */
export function readCommand(text: string): Command {
  return JSON.parse(text) as Command;
}

function readFill(fill: FillText): Fill {
  return {
    inputMint: fill.inputMint as Mint,
    outputMint: fill.outputMint as Mint,
    amountIn: BigInt(fill.amountIn) as Amount,
    amountOut: BigInt(fill.amountOut) as Amount,
    feeLamports: BigInt(fill.feeLamports) as Lamports,
    rentLamports: BigInt(fill.rentLamports) as Lamports,
  };
}
