import { Keypair } from '@solana/web3.js';
import {
  associatedTokenAddress, NATIVE_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM,
} from '../../src/sandbox/chain/addresses.ts';
import { SWAP_PROGRAM_ID } from '../../src/sandbox/chain/pools.ts';
import type { Instruction } from '../../src/sandbox/service/build/instructions.ts';
import type { Expectation } from '../../src/signer/policy/expectation.ts';
import { recompile, type Parts } from './policy/decompile.ts';
import { instruction, openAssociated, system, token, u64 } from './policy/raw-instructions.ts';

export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const KEYPAIR = Keypair.fromSeed(new Uint8Array(32).fill(11));
export const WALLET = KEYPAIR.publicKey.toBase58();
export const AMOUNT = 1_000_000n;

/** Returns an address that no other account here has. */
export function addressOfByte(byte: number): string {
  return Keypair.fromSeed(new Uint8Array(32).fill(byte)).publicKey.toBase58();
}

export const THIEF = addressOfByte(12);
export const [POOL, VAULT, OTHER_VAULT] = [addressOfByte(21), addressOfByte(22), addressOfByte(23)];

/** Returns the account of an owner for a mint of the older token program. */
export function accountOf(owner: string, mint: string, program = TOKEN_PROGRAM): string {
  return associatedTokenAddress(owner, mint, program);
}

export interface Swap {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly outputProgram?: string;
  readonly amountIn?: bigint;
  readonly minimumOut?: bigint;
  readonly wallet?: string;
}

/** Returns the instruction of the embedded program's swap, out of one account of the wallet into another. */
export function swapInstruction({
  inputMint, outputMint, outputProgram = TOKEN_PROGRAM, amountIn = AMOUNT, minimumOut = AMOUNT, wallet = WALLET,
}: Swap): Instruction {
  return instruction(SWAP_PROGRAM_ID,
    Buffer.concat([Buffer.of(1, 1, 0, 0, 0, 0, 0, 0), u64(amountIn), u64(minimumOut)]), [
      [wallet, 's'], [accountOf(wallet, inputMint), 'w'], [accountOf(wallet, outputMint, outputProgram), 'w'],
      [SWAP_PROGRAM_ID],
      [inputMint], [TOKEN_PROGRAM], [outputMint], [outputProgram], [POOL, 'w'], [VAULT, 'w'], [OTHER_VAULT, 'w'],
    ]);
}

/** Returns an honest swap of the wallet's, SOL wrapped and unwrapped where it takes part. */
export function honestSwap(swap: Swap): readonly Instruction[] {
  const { inputMint, outputMint, outputProgram = TOKEN_PROGRAM, amountIn = AMOUNT, wallet = WALLET } = swap;
  const wrapped = accountOf(wallet, NATIVE_MINT);
  return [
    ...(inputMint === NATIVE_MINT ? [
      openAssociated({
        payer: wallet, account: wrapped, owner: wallet, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM,
      }), system(2, [u64(amountIn)], [[wallet, 'sw'], [wrapped, 'w']]), token(TOKEN_PROGRAM, 17, [], [[wrapped, 'w']]),
    ] : []),
    openAssociated({
      payer: wallet, account: accountOf(wallet, outputMint, outputProgram), owner: wallet, mint: outputMint,
      tokenProgram: outputProgram,
    }),
    swapInstruction(swap),
    ...(inputMint === NATIVE_MINT || outputMint === NATIVE_MINT
      ? [token(TOKEN_PROGRAM, 9, [], [[wrapped, 'w'], [wallet, 'w'], [wallet, 's']])] : []),
  ];
}

let blockhashes = 100;

/**
 * Returns instructions as a transaction of its own that the wallet, or the named payer, pays for; `held` are the
 * accounts that stand in a table.
 */
export function transactionOf(instructions: readonly Instruction[], { payer = WALLET, form = 'written', held }: {
  readonly payer?: string; readonly form?: 'legacy' | 'written' | 'shared' | 'hidden';
  readonly held?: readonly string[];
} = {}): ReturnType<typeof recompile> {
  blockhashes += 1;
  const parts: Parts = { payer, blockhash: addressOfByte(blockhashes % 256), instructions };
  return recompile(parts, held ?? form);
}

/** Returns what a swap is expected to come to. */
export function expectationOf(
  { inputMint, outputMint, amountIn = AMOUNT, minimumOut = AMOUNT, wallet = WALLET }: Swap,
  more: Partial<Expectation> = {},
): Expectation {
  return { wallet, inputMint, outputMint, amountIn, minimumOut, maxFeeLamports: 1_020_000n, route: 'order', ...more };
}

export { NATIVE_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM };
