import bs58 from 'bs58';
import type { Random } from '../../../src/core/random.ts';
import {
  associatedTokenAddress, NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM,
} from '../../../src/sandbox/chain/addresses.ts';
import { SWAP_PROGRAM_ID } from '../../../src/sandbox/chain/pools.ts';
import { GENESIS_TOKENS } from '../../../src/sandbox/genesis.ts';
import type { Instruction } from '../../../src/sandbox/service/build/instructions.ts';
import type { PolicyCode } from '../../../src/signer/policy/codes.ts';
import { randomBytes } from '../random-transaction.ts';
import { decompile, type Parts } from './decompile.ts';
import type { Golden } from './goldens.ts';

/** A golden with what a mutation needs to know of it. */
export interface Victim {
  readonly golden: Golden;
  readonly parts: Parts;
  readonly wallet: string;
  readonly attacker: string;
  readonly input: TokenAccount;
  readonly output: TokenAccount;
  /** The wallet's account of a token that has no part in the swap. */
  readonly other: TokenAccount;
  /** The attacker's of the input. */
  readonly loot: string;
}

export interface TokenAccount {
  readonly mint: string;
  readonly program: string;
  readonly decimals: number;
  readonly account: string;
}

/** Kinds of token instructions. */
export const TAG = { transfer: 3, close: 9, transferChecked: 12 } as const;

/** Returns a golden taken apart, with a thief who is new every time. */
export function victimOf(golden: Golden, random: Random): Victim {
  const { wallet, inputMint, outputMint } = golden.expectation;
  const attacker = bs58.encode(randomBytes(random, 32));
  const accountOf = (mint: string): TokenAccount => {
    const { tokenProgram: program, decimals } = GENESIS_TOKENS.find((candidate) => candidate.mint === mint)!;
    return { mint, program, decimals, account: associatedTokenAddress(wallet, mint, program) };
  };
  const input = accountOf(inputMint);
  const other = GENESIS_TOKENS.find(({ mint }) => ![inputMint, outputMint, NATIVE_MINT].includes(mint))!;
  return {
    golden, wallet, attacker, input, output: accountOf(outputMint), other: accountOf(other.mint),
    parts: decompile(golden.bytes, golden.tables),
    loot: associatedTokenAddress(attacker, input.mint, input.program),
  };
}

/** Returns the code for a part of the input to another account: where fees are allowed it is the amount that tells. */
export function taken({ golden: { expectation } }: Victim): PolicyCode {
  return (expectation.maxPlatformFeeBps ?? (expectation.route === 'build' ? 0 : 300)) === 0 ? 'TRANSFER_DESTINATION'
    : 'TRANSFER_EXCEEDS';
}

/** Returns whether an instruction is the swap itself. */
export function isSwap({ programId }: Instruction): boolean {
  return programId === SWAP_PROGRAM_ID;
}

/** Returns whether an instruction is a checked transfer of tokens by an owner. */
export function isTransferBy({ programId, data, accounts }: Instruction, authority: string): boolean {
  return [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].includes(programId) && data[0] === TAG.transferChecked
    && accounts[3]!.pubkey === authority;
}
