import { describe, expect, test } from 'vitest';
import type { ChainReader } from '../../src/signer/chain/chain-reader.ts';
import { judgeWithChain } from '../../src/signer/policy-check.ts';
import { createPolicy } from '../../src/signer/policy/policy.ts';
import type { SimulatedChanges } from '../../src/signer/policy/simulation.ts';
import { CONSTANT_PRODUCT_PROGRAM } from '../../src/signer/policy/swap-programs.ts';
import type { TokenAccountState } from '../../src/solana/accounts.ts';
import {
  accountOf, addressOfByte, AMOUNT, expectationOf, honestSwap, POOL, SYSTEM_PROGRAM, USDC, WALLET,
} from './attack-swap.ts';
import { recompile } from './policy/decompile.ts';

const SWAP = { inputMint: USDC, outputMint: addressOfByte(31) };
/** The swap program as one without a decoder. */
const policy = createPolicy([{ program: CONSTANT_PRODUCT_PROGRAM }]);

const { bytes } = recompile({
  payer: WALLET, blockhash: POOL, instructions: honestSwap(SWAP),
  config: { computeUnitLimit: 300_000, loadedAccountsDataSizeLimit: 1_000_000, priorityFeeLamports: 1_000n },
}, 'written');

function state(mint: string, amount: bigint): TokenAccountState {
  return {
    owner: WALLET, mint, amount, delegate: undefined, delegatedAmount: 0n, closeAuthority: undefined, isFrozen: false,
  };
}

/** A node whose simulation gives so much output, and keeps what it was asked. */
function simulating(received: bigint): { readonly chain: ChainReader; readonly asked: (readonly string[])[] } {
  const asked: (readonly string[])[] = [];
  const changes: SimulatedChanges = {
    wallet: { before: 10n ** 9n, after: 10n ** 9n - 6_000n - 2_039_280n, programAfter: SYSTEM_PROGRAM },
    tokenAccounts: [
      { address: 'in', before: state(USDC, AMOUNT), after: state(USDC, 0n) },
      { address: 'out', before: undefined, after: state(SWAP.outputMint, received) },
    ],
  };
  return { asked, chain: {
    lookupTables: async () => new Map(), decimalsOf: async () => 6, close: () => undefined,
    simulate: async (transaction, { writable }) => {
      expect(Buffer.compare(transaction, bytes)).toBe(0);
      asked.push(writable);
      return changes;
    },
  } };
}

describe('a swap of version 1 without a decoder', () => {
  test('is simulated as it is, with every account that it can change, and judged by what changes', async () => {
    const { chain, asked } = simulating(AMOUNT);
    const { verdict, findings } = await judgeWithChain(bytes, expectationOf(SWAP), { policy, chain });
    expect([verdict, findings]).toEqual(['allow', []]);
    const written = honestSwap(SWAP).flatMap(({ accounts }) =>
      accounts.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey));
    expect(new Set(asked.flat())).toEqual(new Set([WALLET, accountOf(WALLET, USDC), ...written]));
  });

  test('is denied where less arrives, and without a node', async () => {
    const { chain } = simulating(AMOUNT - 1n);
    expect((await judgeWithChain(bytes, expectationOf(SWAP), { policy, chain })).code).toBe('SIMULATION_OUTPUT_BELOW');
    expect((await judgeWithChain(bytes, expectationOf(SWAP), { policy, chain: undefined })).code)
      .toBe('SWAP_UNREADABLE');
  });
});
