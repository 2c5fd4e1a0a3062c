import type { Amount, Lamports } from '../../core/amount.ts';
import { ZERO, mulDiv } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { AttemptCostModel, SimulationModel } from '../../trading/simulation-model.ts';
import { BASE_FEE } from '../../trading/simulation-model.ts';
import { platformFeeOf, transferFeeOf } from './token-fees.ts';

const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

/** The cost of an attempt in SOL, by kind. */
export interface AttemptCosts {
  readonly baseLamports: Lamports;
  readonly priorityLamports: Lamports;
  readonly tipLamports: Lamports;
  /** The sum of all. */
  readonly feeLamports: Lamports;
}

/**
 * Returns the cost of an attempt, landed or failed: 5,000 lamports per signature, ceil(unit limit × price / 10^6) for
 * priority, which the limit determines and not the use, and the tip. Priority and tip count `priorityFactor` times, a
 * whole number.
 */
export function attemptCosts(model: AttemptCostModel, priorityFactor = 1): AttemptCosts {
  const baseLamports = (BigInt(model.signatures) * BASE_FEE) as Lamports;
  const price = model.microLamportsPerUnit * BigInt(priorityFactor);
  const priorityLamports =
    mulDiv(BigInt(model.computeUnitLimit), price, MICRO_LAMPORTS_PER_LAMPORT, 'ceil') as Lamports;
  const tipLamports = (model.tipLamports * BigInt(priorityFactor)) as Lamports;
  return {
    baseLamports, priorityLamports, tipLamports,
    feeLamports: (baseLamports + priorityLamports + tipLamports) as Lamports,
  };
}

/**
 * The deposit of a token account of 165 bytes, and of 170 bytes under the newer token program: (bytes + 128) × 6,960.
 */
const DEPOSIT = 2_039_280n as Lamports;
const NEWER_DEPOSIT = 2_074_080n as Lamports;
const NONE = 0n as Lamports;

/** The wallet's token accounts, with the deposits of those that it opened. */
export interface TokenAccounts {
  /** Returns the deposit for opening an account of a mint now; 0 where none is needed. */
  depositFor(mint: Mint): Lamports;
  /** Opens an account unless there is one, and returns its deposit. */
  open(mint: Mint): Lamports;
  /** Closes an account and returns its deposit; 0 for an account that existed from the beginning. */
  close(mint: Mint): Lamports;
  /** Returns the deposits that have not come back. */
  lockedLamports(): Lamports;
}

/**
 * Returns the accounts of a wallet that has those of `existing` mints; `newer` selects mints of the newer token
 * program.
 */
export function createTokenAccounts(existing: Iterable<Mint>, newer: (mint: Mint) => boolean): TokenAccounts {
  // Native SOL needs none: a swap wraps it in a temporary account.
  const accounts = new Map<Mint, Lamports>([...existing, SOL_MINT].map((mint) => [mint, NONE]));
  const depositFor = (mint: Mint): Lamports => (accounts.has(mint) ? NONE : newer(mint) ? NEWER_DEPOSIT : DEPOSIT);
  return {
    depositFor,
    open(mint) {
      const deposit = depositFor(mint);
      if (deposit > 0n) accounts.set(mint, deposit);
      return deposit;
    },
    close(mint) {
      const deposit = accounts.get(mint) ?? NONE;
      if (mint !== SOL_MINT) accounts.delete(mint);
      return deposit;
    },
    lockedLamports: () => [...accounts.values()].reduce((sum, deposit) => sum + deposit, 0n) as Lamports,
  };
}

/** The fees and losses of a swap in a model, beside the market's price. */
export type FeeModel = Pick<SimulationModel, 'costs' | 'dearerBps' | 'transferFees'>;

/** Returns the part of an input that reaches the market, and the fees on it. */
export function reachingMarket(
  amountIn: Amount, mint: Mint, { costs: { platformFeeBps, platformFeeIn }, transferFees }: FeeModel,
): { readonly traded: Amount; readonly platformFee: Amount; readonly transferFee: Amount } {
  const transferFee = transferFeeOf(amountIn, transferFees.get(mint));
  const arriving = (amountIn - transferFee) as Amount;
  const platformFee = platformFeeIn === 'input' ? platformFeeOf(arriving, platformFeeBps) : ZERO;
  return { traded: (arriving - platformFee) as Amount, platformFee, transferFee };
}

/**
 * Returns what the market pays instead of the recorded amount, the part that reaches the wallet, and the fees on it.
 */
export function reachingWallet(
  recorded: Amount, mint: Mint, { costs: { platformFeeBps, platformFeeIn }, dearerBps, transferFees }: FeeModel,
): { readonly paid: Amount; readonly received: Amount; readonly platformFee: Amount; readonly transferFee: Amount } {
  const paid = dearerBps === undefined ? recorded : dearer(recorded, dearerBps);
  const platformFee = platformFeeIn === 'output' ? platformFeeOf(paid, platformFeeBps) : ZERO;
  const sent = (paid - platformFee) as Amount;
  const transferFee = transferFeeOf(sent, transferFees.get(mint));
  return { paid, received: (sent - transferFee) as Amount, platformFee, transferFee };
}

/** To a thousandth of a basis point. */
function dearer(amount: Amount, bps: number): Amount {
  return mulDiv(amount, BigInt(Math.round((10_000 - bps) * 1_000)), 10_000_000n, 'floor');
}
