import bs58 from 'bs58';
import { amount } from '../../src/core/amount.ts';
import { seededRandom, type Random } from '../../src/core/random.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { SwapBuild, SwapInstruction } from '../../src/trading/swap-terms.ts';

export const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';

/** Returns a number of `from` to `to`, both included. */
export function integer(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

export function randomAddress(random: Random): string {
  return bs58.encode(Uint8Array.from({ length: 32 }, () => integer(random, 0, 255)));
}

/** Returns an instruction that sets the price of a compute unit. */
export function priceInstruction(microLamports: bigint): SwapInstruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(3, 0);
  data.writeBigUInt64LE(microLamports, 1);
  return { programId: COMPUTE_BUDGET, accounts: [], data };
}

/** Returns a build of random accounts, some of them in tables, some tables useless, for `payer`. */
export function randomBuild(seed: number | string, payer: string): SwapBuild {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[integer(random, 0, items.length - 1)]!;
  const addresses = (count: number) => Array.from({ length: count }, () => randomAddress(random));
  const loose = addresses(integer(random, 1, 6));
  const held = addresses(integer(random, 0, 60));
  const programs = addresses(integer(random, 1, 4));
  const instruction = (): SwapInstruction => ({
    programId: pick(programs),
    accounts: Array.from({ length: integer(random, 0, 12) }, () => {
      const pubkey = pick([...loose, ...held, ...programs, payer]);
      return { pubkey, isSigner: pubkey === payer && random() < 0.5, isWritable: random() < 0.5 };
    }),
    data: Uint8Array.from({ length: integer(random, 0, 40) }, () => integer(random, 0, 255)),
  });
  const half = integer(random, 0, held.length);
  return {
    inputMint: SOL_MINT,
    outputMint: USDC_MINT,
    inAmount: amount(1n),
    outAmount: amount(1n),
    threshold: amount(1n),
    feeBps: 0,
    router: 'routerA',
    computeBudgetInstructions: random() < 0.8 ? [priceInstruction(BigInt(integer(random, 0, 2_000_000)))] : [],
    setupInstructions: Array.from({ length: integer(random, 0, 3) }, instruction),
    swapInstruction: instruction(),
    cleanupInstruction: random() < 0.5 ? instruction() : undefined,
    otherInstructions: Array.from({ length: integer(random, 0, 1) }, instruction),
    lookupTables: {
      [randomAddress(random)]: held.slice(0, half),
      [randomAddress(random)]: addresses(3),
      // An address in two tables is looked up in the first.
      [randomAddress(random)]: [...held.slice(Math.max(0, half - 2)), ...programs],
    },
    blockhash: randomAddress(random),
    lastValidBlockHeight: 1_000n,
  };
}
