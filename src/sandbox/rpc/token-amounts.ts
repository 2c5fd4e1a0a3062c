import { formatDecimal } from '../../core/amount.ts';
import type { Address } from '../chain/addresses.ts';
import type { Commitment, SandboxChain } from '../chain/chain.ts';
import { decodeMint, isTokenProgram } from '../chain/token-layout.ts';
import type { InterestBearing, ScaledAmounts } from './token-extensions.ts';
import { tokenExtensions } from './token-extensions.ts';

/** How a mint's amounts are shown: the place of the decimal point, and what an extension multiplies them by. */
export interface TokenDisplay {
  readonly decimals: number;
  readonly multiplier: number | undefined;
}

interface UiAmount {
  readonly amount: string;
  readonly decimals: number;
  /** Null where a double cannot show it: with 20 decimals or more. */
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

const SECONDS_PER_YEAR = 60 * 60 * 24 * 365.24;
const BASIS_POINTS = 10_000;
/** The most decimals of which the power of ten fits the nodes' integer. */
const MOST_SHOWN_DECIMALS = 19;
/** The most digits that the language writes after a decimal point. */
const MOST_DIGITS = 100;
/** From here on doubles are written with an exponent. */
const EXPONENT_FROM = 1e21;

/** Returns a token amount as the RPC writes it: exact as a string, and as a double for display. */
export function uiAmount(amount: bigint, decimals: number): UiAmount {
  return {
    amount: amount.toString(),
    decimals,
    uiAmount: decimals > MOST_SHOWN_DECIMALS ? null : Number(amount) / Number(`1e${decimals}`),
    uiAmountString: formatDecimal(amount, decimals),
  };
}

/** Returns a token amount as the RPC writes it for a mint, with its interest or scale in the text for people. */
export function displayedAmount(amount: bigint, { decimals, multiplier }: TokenDisplay): UiAmount {
  if (multiplier === undefined) return uiAmount(amount, decimals);
  const uiAmountString = fixedText(Number(amount) * multiplier, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

/** Returns how a mint's amounts are shown at a time, or undefined for data that is no mint. */
export function displayOf(mint: Uint8Array, unixSeconds: number): TokenDisplay | undefined {
  const decimals = decodeMint(mint)?.decimals;
  return decimals === undefined ? undefined : { decimals, multiplier: multiplierOf(mint, decimals, unixSeconds) };
}

/** Returns the look-up of how mints show amounts in one view of the chain; undefined for a mint that is gone. */
export function mintDisplays(
  chain: SandboxChain, commitment: Commitment,
): (mint: Address) => TokenDisplay | undefined {
  return (mint) => {
    const account = chain.account(mint, commitment);
    return account && isTokenProgram(account.owner)
      ? displayOf(account.data, chain.blockAt(commitment).unixSeconds) : undefined;
  };
}

function multiplierOf(mint: Uint8Array, decimals: number, unixSeconds: number): number | undefined {
  const one = Number(`1e${decimals}`);
  for (const { extension, state } of tokenExtensions(mint)) {
    if (extension === 'interestBearingConfig') return interest(state as unknown as InterestBearing, unixSeconds) / one;
    if (extension === 'scaledUiAmountConfig') return scale(state as unknown as ScaledAmounts, unixSeconds) / one;
  }
  return undefined;
}

/** Interest is compounded continuously: at the average rate up to the last change, at the current one since. */
function interest(config: InterestBearing, unixSeconds: number): number {
  const start = Number(config.initializationTimestamp);
  const change = Number(config.lastUpdateTimestamp);
  return growth(config.preUpdateAverageRate, change - start) * growth(config.currentRate, unixSeconds - change);
}

function growth(bpsPerYear: number, seconds: number): number {
  return Math.exp(bpsPerYear * seconds / SECONDS_PER_YEAR / BASIS_POINTS);
}

function scale(config: ScaledAmounts, unixSeconds: number): number {
  return Number(unixSeconds >= config.newMultiplierEffectiveTimestamp ? config.newMultiplier : config.multiplier);
}

/** Returns a double rounded to that many decimals, without trailing zeros and without an exponent. */
function fixedText(value: number, decimals: number): string {
  if (Math.abs(value) >= EXPONENT_FROM) return Number.isFinite(value) ? BigInt(value).toString() : 'inf';
  const text = value.toFixed(Math.min(decimals, MOST_DIGITS));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
