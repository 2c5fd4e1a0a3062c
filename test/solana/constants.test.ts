import {
  ASSOCIATED_TOKEN_PROGRAM_ID, NATIVE_MINT as REFERENCE_NATIVE_MINT, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { getTransactionDecoder, getTransactionSizeLimit } from '@solana/kit';
import { AddressLookupTableProgram, ComputeBudgetProgram, PACKET_DATA_SIZE, SystemProgram } from '@solana/web3.js';
import { describe, expect, test } from 'vitest';
import { SOL_MINT, USDC_MINT as MARKET_USDC_MINT } from '../../src/market/token.ts';
import { seededRandom } from '../../src/core/random.ts';
import * as constants from '../../src/solana/constants.ts';
import { randomV1Transaction } from '../signer/random-v1-transaction.ts';

describe('the constants of Solana', () => {
  test('are those of the reference libraries', () => {
    const version1 = randomV1Transaction(seededRandom(1))!;
    expect(constants).toMatchObject({
      SYSTEM_PROGRAM: SystemProgram.programId.toBase58(),
      COMPUTE_BUDGET_PROGRAM: ComputeBudgetProgram.programId.toBase58(),
      TOKEN_PROGRAM: TOKEN_PROGRAM_ID.toBase58(),
      TOKEN_2022_PROGRAM: TOKEN_2022_PROGRAM_ID.toBase58(),
      ASSOCIATED_TOKEN_PROGRAM: ASSOCIATED_TOKEN_PROGRAM_ID.toBase58(),
      LOOKUP_TABLE_PROGRAM: AddressLookupTableProgram.programId.toBase58(),
      NATIVE_MINT: REFERENCE_NATIVE_MINT.toBase58(),
      MAX_TRANSACTION_BYTES: PACKET_DATA_SIZE,
      MAX_V1_TRANSACTION_BYTES: getTransactionSizeLimit(getTransactionDecoder().decode(version1)),
    });
  });

  test('name the same mints as the market layer, which imports no Solana code', () => {
    expect([constants.NATIVE_MINT, constants.USDC_MINT]).toEqual([SOL_MINT, MARKET_USDC_MINT]);
  });
});
