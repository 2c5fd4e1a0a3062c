import { TransactionInstruction } from '@solana/web3.js';
import type { AccountMeta } from '@solana/web3.js';
import { assert } from '../../core/assert.ts';
import type { Mint } from './accounts.ts';
import { associatedTokenAddress, publicKey } from './addresses.ts';
import type { Address } from './addresses.ts';
import type { Pool } from './pools.ts';
import { SWAP_PROGRAM_ID } from './swap-program.ts';

export { SWAP_PROGRAM_ID } from './swap-program.ts';

export const MAX_HOPS = 4;
const SWAP_TAG = 1;
const INSTRUCTION_BYTES = 24;

export interface SwapHop {
  pool: Address;
  inputMint: Address;
  outputMint: Address;
}

export interface SwapInstructionOptions {
  chain: { pool: (address: Address) => Pool; mint: (address: Address) => Mint };
  user: Address;
  hops: readonly SwapHop[];
  amountIn: bigint;
  /** What the user must receive at least, after the platform's fee. */
  minimumOut: bigint;
  /** Paid out of the last hop's output, to a token account of the output mint. */
  platformFee?: { bps: number; account: Address };
  /** The output token account; by default the user's associated one. */
  destination?: Address;
}

/**
 * Returns the one instruction that swaps through 1 to 4 pools, each hop's whole output being the next one's input.
 * Accounts and data as `program/README.md` lists them.
 */
export function swapInstruction(options: SwapInstructionOptions): TransactionInstruction {
  const { chain, user, hops } = options;
  assert(hops.length >= 1 && hops.length <= MAX_HOPS, `a swap has 1 to ${MAX_HOPS} hops, got ${hops.length}`);
  const mints = [hops[0]!.inputMint, ...hops.map((hop) => hop.outputMint)].map((mint) => chain.mint(mint));
  const first = mints[0]!;
  const last = mints.at(-1)!;
  const source = associatedTokenAddress(user, first.address, first.tokenProgram);
  const destination = options.destination ?? associatedTokenAddress(user, last.address, last.tokenProgram);

  const keys: AccountMeta[] = [
    { pubkey: publicKey(user), isSigner: true, isWritable: false },
    writable(source),
    writable(destination),
    // Where no fee is paid, the program's own address stands in its place.
    options.platformFee ? writable(options.platformFee.account) : readonly(SWAP_PROGRAM_ID),
    ...mints.flatMap((mint) => [readonly(mint.address), readonly(mint.tokenProgram)]),
  ];
  for (const hop of hops) {
    const pool = chain.pool(hop.pool);
    const forward = pool.mintA === hop.inputMint;
    keys.push(writable(pool.address), writable(forward ? pool.vaultA : pool.vaultB), writable(forward
      ? pool.vaultB : pool.vaultA));
  }

  const data = Buffer.alloc(INSTRUCTION_BYTES);
  data.writeUInt8(SWAP_TAG, 0);
  data.writeUInt8(hops.length, 1);
  data.writeUInt16LE(options.platformFee?.bps ?? 0, 2);
  data.writeBigUInt64LE(options.amountIn, 8);
  data.writeBigUInt64LE(options.minimumOut, 16);
  return new TransactionInstruction({ programId: publicKey(SWAP_PROGRAM_ID), keys, data });
}

function writable(address: Address): AccountMeta {
  return { pubkey: publicKey(address), isSigner: false, isWritable: true };
}

function readonly(address: Address): AccountMeta {
  return { pubkey: publicKey(address), isSigner: false, isWritable: false };
}
