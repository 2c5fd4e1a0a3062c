import { mulDiv, U64_MAX } from '../../../core/amount.ts';
import { TOKEN_2022_PROGRAM } from '../../chain/addresses.ts';
import type { GenesisToken } from '../../genesis.ts';

/** The base fee of each signature. */
export const SIGNATURE_LAMPORTS = 5_000n;
/** The rent of a system account without data: no smaller balance may remain. */
export const SYSTEM_ACCOUNT_RENT_LAMPORTS = 890_880n;
const TOKEN_ACCOUNT_RENT_LAMPORTS = 2_039_280n;
/** Token-2022 adds five bytes for the ImmutableOwner extension. */
const TOKEN_2022_ACCOUNT_RENT_LAMPORTS = 2_074_080n;
/** Where the mint withholds part of transfers, an account has twelve bytes more for what was withheld. */
const WITHHELD_RENT_LAMPORTS = 12n * 6_960n;
const MICRO = 1_000_000n;

/** Returns the lamports that an associated account of a token must hold. */
export function tokenAccountRent(tokenProgram: string, withholds = false): bigint {
  if (tokenProgram !== TOKEN_2022_PROGRAM) return TOKEN_ACCOUNT_RENT_LAMPORTS;
  return TOKEN_2022_ACCOUNT_RENT_LAMPORTS + (withholds ? WITHHELD_RENT_LAMPORTS : 0n);
}

/** Returns the priority fee in lamports: price (micro-lamports per unit) times limit, rounded up as the chain does. */
export function priorityLamports({ unitPrice, units }: { unitPrice: bigint; units: number }): bigint {
  return mulDiv(unitPrice, BigInt(units), MICRO, 'ceil');
}

/** Returns the largest 64-bit unit price that costs at most `lamports` for `units`. */
export function unitPriceFor({ lamports, units }: { lamports: bigint; units: number }): bigint {
  const price = (lamports * MICRO) / BigInt(units);
  return price < U64_MAX ? price : U64_MAX;
}

/** Returns the service's own bid for a slot, which varies as blocks are not equally full. */
export function automaticUnitPrice({ slot, fast = false }: { slot: number; fast?: boolean }): bigint {
  const price = 9_000n + BigInt(slot % 17) * 1_500n;
  return fast ? price * 2n : price;
}

// A generous limit: a swap without enough units fails, a few more units cost a few lamports.
const BASE_UNITS = 15_000;
const UNITS_PER_HOP = 20_000;
const UNITS_PER_TOKEN_ACCOUNT = 30_000;

/**
 * Returns a few compute units or micro-lamports that differ from one transaction to the next. Without them two equal
 * swaps ordered within one slot would be the same transaction, and the second would not be executed.
 */
export function distinguishing(number: number): number {
  return number % 1_000;
}

/** Returns the compute units that a swap is given. */
export function computeUnitsFor({ hops, tokenAccounts }: { hops: number; tokenAccounts: number }): number {
  return BASE_UNITS + UNITS_PER_HOP * hops + UNITS_PER_TOKEN_ACCOUNT * tokenAccounts;
}

/** Returns the slippage that the service chooses when the request names none: wider where prices move more. */
export function automaticSlippageBps(input: GenesisToken, output: GenesisToken): number {
  const volatility = Math.max(input.volatility, output.volatility);
  if (volatility < 0.1) return 10;
  return Math.min(300, Math.round(30 + 30 * volatility));
}
