import { VersionedTransaction } from '@solana/web3.js';
import {
  AccountRole, address, decompileTransactionMessage, getCompiledTransactionMessageDecoder, getTransactionDecoder,
  type AccountLookupMeta, type AccountMeta, type Instruction,
} from '@solana/kit';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lamports, type Lamports } from '../../src/core/amount.ts';
import { seededRandom } from '../../src/core/random.ts';
import type { Simulation } from '../../src/chain/compose.ts';
import { clampUnitPrice, createComposer, priorityFee, unitLimitFor } from '../../src/chain/compose.ts';
import { isGannetError } from '../../src/core/errors.ts';
import { readTransaction, writeMessage } from '../../src/solana/transaction.ts';
import type { SwapBuild, SwapInstruction } from '../../src/trading/swap-terms.ts';
import { COMPUTE_BUDGET, priceInstruction, randomAddress, randomBuild } from './random-build.ts';

const payer = randomAddress(seededRandom('payer'));
const success = (unitsConsumed: bigint) => async (): Promise<Simulation> => ({ unitsConsumed, logs: [] });

interface Composed {
  readonly payer: string;
  readonly blockhash: string;
  readonly instructions: readonly SwapInstruction[];
  /** The accounts that come from lookup tables. */
  readonly lookedUp: ReadonlySet<string>;
}

type ReadInstruction = Instruction & { readonly accounts?: readonly (AccountLookupMeta | AccountMeta)[] };

/** A transaction as another library reads it, which had no part in composing it. */
function readByReference(bytes: Uint8Array, tables: SwapBuild['lookupTables']): Composed {
  const { messageBytes } = getTransactionDecoder().decode(bytes);
  const message = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(messageBytes), {
    addressesByLookupTableAddress: Object.fromEntries(
      Object.entries(tables).map(([table, held]) => [address(table), held.map((each) => address(each))]),
    ),
  });
  expect(message.version).toBe(0);
  const lookedUp = new Set<string>();
  const read: readonly ReadInstruction[] = message.instructions;
  const instructions = read.map(({ programAddress, accounts = [], data = new Uint8Array() }) => ({
    programId: String(programAddress), data: Uint8Array.from(data),
    accounts: accounts.map((account) => {
      if ('lookupTableAddress' in account) lookedUp.add(account.address);
      return {
        pubkey: String(account.address),
        isSigner: account.role === AccountRole.READONLY_SIGNER || account.role === AccountRole.WRITABLE_SIGNER,
        isWritable: account.role === AccountRole.WRITABLE || account.role === AccountRole.WRITABLE_SIGNER,
      };
    }),
  }));
  const { lifetimeConstraint } = message as { readonly lifetimeConstraint?: { readonly blockhash?: string } };
  return { payer: message.feePayer.address, blockhash: String(lifetimeConstraint?.blockhash), instructions, lookedUp };
}

function budgetOf(unitLimit: number, price: bigint): SwapInstruction[] {
  const limit = Buffer.alloc(5);
  limit.writeUInt8(2, 0);
  limit.writeUInt32LE(unitLimit, 1);
  const limited = { programId: COMPUTE_BUDGET, accounts: [], data: Uint8Array.from(limit) };
  const { programId, data } = priceInstruction(price);
  return price === 0n ? [limited] : [limited, { programId, accounts: [], data: Uint8Array.from(data) }];
}

/** What a transaction must say: in a message, each account has the strongest role that it has anywhere. */
function expectedOf(build: SwapBuild, budget: readonly SwapInstruction[]): Composed {
  const { setupInstructions, swapInstruction, cleanupInstruction, otherInstructions } = build;
  const cleanup = cleanupInstruction === undefined ? [] : [cleanupInstruction];
  const instructions = [...budget, ...setupInstructions, swapInstruction, ...cleanup, ...otherInstructions];
  const all = instructions.flatMap(({ accounts }) => accounts);
  const writable = new Set([payer, ...all.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey)]);
  const held = new Set(Object.values(build.lookupTables).flat());
  for (const { programId } of instructions) held.delete(programId);
  return {
    payer, blockhash: build.blockhash,
    instructions: instructions.map(({ programId, accounts, data }) => ({
      programId, data: Uint8Array.from(data),
      accounts: accounts.map(({ pubkey }) => ({
        pubkey, isSigner: pubkey === payer, isWritable: writable.has(pubkey),
      })),
    })),
    lookedUp: new Set(all.map(({ pubkey }) => pubkey).filter((pubkey) => held.has(pubkey) && pubkey !== payer)),
  };
}

describe('composing a swap', () => {
  test('says to another library what the build says, with all accounts of tables looked up', async () => {
    let compared = 0;
    const compose = createComposer({ simulate: success(100_000n) });
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const build = randomBuild(seed, payer);
        const composed = await compose(build, payer).catch((error: unknown) => {
          if (isGannetError(error) && error.message.includes('1232 bytes')) return undefined;
          throw error;
        });
        if (composed === undefined) return;
        const [instruction] = build.computeBudgetInstructions;
        const price = instruction === undefined ? 0n : Buffer.from(instruction.data).readBigUInt64LE(1);
        expect(composed.unitLimit).toBe(120_000);
        expect(readByReference(composed.transaction, build.lookupTables))
          .toStrictEqual(expectedOf(build, budgetOf(120_000, price)));
        // The signer reads it strictly, and wants to write the same message again.
        const { message, ...read } = readTransaction(composed.transaction);
        expect(Buffer.compare(writeMessage(read), message)).toBe(0);
        compared += 1;
      }),
      { numRuns: 400 },
    );
    expect(compared).toBeGreaterThan(200);
  });

  test('simulates with the highest limit, and sets a fifth more than was used, rounded up', async () => {
    const build = randomBuild('simulated', payer);
    const simulated: Uint8Array[] = [];
    const simulate = async (transaction: Uint8Array): Promise<Simulation> => {
      simulated.push(transaction);
      return { unitsConsumed: 33_333n, logs: [] };
    };
    const composed = await createComposer({ simulate })(build, payer);
    expect(unitLimitIn(simulated[0]!)).toBe(1_400_000);
    expect(unitLimitIn(composed.transaction)).toBe(40_000);
    expect(composed.unitLimit).toBe(40_000);
    expect(simulated).toHaveLength(1);
  });

  test.each([
    [1n, 2], [5n, 6], [6n, 8], [1_166_666n, 1_400_000], [1_400_000n, 1_400_000],
  ])('of %i units used asks for %i', (consumed, limit) => {
    expect(unitLimitFor(consumed)).toBe(limit);
  });

  test('lowers only a price beyond the cap', async () => {
    const withPrice = (price: bigint) =>
      ({ ...randomBuild('price', payer), computeBudgetInstructions: [priceInstruction(price)] });
    const compose = createComposer({ simulate: success(100_000n), maxPriorityFeeLamports: lamports(600n) });
    expect(await compose(withPrice(5_000n), payer)).toMatchObject({ priorityFeeLamports: 600n });
    expect(await compose(withPrice(4_999n), payer)).toMatchObject({ priorityFeeLamports: 600n });
    expect(await compose(withPrice(4_000n), payer)).toMatchObject({ priorityFeeLamports: 480n });
    expect(await compose(withPrice(2n ** 64n - 1n), payer)).toMatchObject({ priorityFeeLamports: 600n });
    expect(await compose({ ...withPrice(1n), computeBudgetInstructions: [] }, payer))
      .toMatchObject({ priorityFeeLamports: 0n });
    const byDefault = await createComposer({ simulate: success(100_000n) })(withPrice(82_000_000_000n), payer);
    expect(byDefault.priorityFeeLamports).toBeLessThanOrEqual(1_000_000n);
  });

  test('leaves the simulated transaction unchanged, also where only the real one sets a price', async () => {
    const build = { ...randomBuild('small', payer), computeBudgetInstructions: [priceInstruction(5_000n)] };
    for (const [cap, simulatedPrice] of [[1n, 0n], [600n, 428n]] as const) {
      const simulated: Uint8Array[] = [];
      const copies: Uint8Array[] = [];
      const composed = await createComposer({
        maxPriorityFeeLamports: lamports(cap),
        simulate: async (transaction) => {
          simulated.push(transaction);
          copies.push(Uint8Array.from(transaction));
          return { unitsConsumed: 100_000n, logs: [] };
        },
      })(build, payer);
      expect(simulated[0]).toStrictEqual(copies[0]!);
      const read = (bytes: Uint8Array): Composed => readByReference(bytes, build.lookupTables);
      expect(read(copies[0]!)).toStrictEqual(expectedOf(build, budgetOf(1_400_000, simulatedPrice)));
      const price = clampUnitPrice({ price: 5_000n, unitLimit: 120_000, maxFeeLamports: lamports(cap) });
      expect(read(composed.transaction)).toStrictEqual(expectedOf(build, budgetOf(120_000, price)));
    }
  });

  test('pays up to the cap and never more, at any price and limit', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 64n - 1n), fc.integer({ min: 1, max: 1_400_000 }), fc.bigInt(0n, 10n ** 10n),
        (price, unitLimit, cap) => {
          const maxFeeLamports = cap as Lamports;
          const clamped = clampUnitPrice({ price, unitLimit, maxFeeLamports });
          expect(clamped).toBeLessThanOrEqual(price);
          expect(priorityFee({ price: clamped, unitLimit })).toBeLessThanOrEqual(cap);
          if (clamped < price) expect(priorityFee({ price: clamped + 1n, unitLimit })).toBeGreaterThan(cap);
        }),
    );
  });

  test('reports the program’s error code for a swap that would fail', async () => {
    const error = { code: '6001', message: "instruction 3 failed with the program's error 6001" };
    const simulate = async (): Promise<Simulation> =>
      ({ error, unitsConsumed: 9_000n, logs: ['a', 'Program failed\u001b[2J'] });
    await expect(createComposer({ simulate })(randomBuild('fails', payer), payer)).rejects.toMatchObject({
      code: 'CHAIN_SIMULATION_FAILED',
      details: { code: '6001', log: 'Program failed\\u001b[2J' },
    });
  });

  test('passes on a fault of the simulation itself', async () => {
    const broken = new Error('no node');
    const compose = createComposer({ simulate: () => Promise.reject(broken) });
    await expect(compose(randomBuild('broken', payer), payer)).rejects.toBe(broken);
  });
});

function budget(data: readonly number[]): SwapInstruction {
  return { programId: COMPUTE_BUDGET, accounts: [], data: Uint8Array.from(data) };
}

function account(pubkey: string, isSigner = false): SwapInstruction['accounts'][number] {
  return { pubkey, isSigner, isWritable: false };
}

describe('an inconsistent build is CHAIN_TRANSACTION_INVALID', () => {
  const good = randomBuild('good', payer);
  const swap = good.swapInstruction;
  const other = randomAddress(seededRandom('other'));

  test.each<[string, Partial<SwapBuild>, string]>([
    ['two prices', { computeBudgetInstructions: [priceInstruction(1n), priceInstruction(2n)] }, 'at most one'],
    [
      'a limit of its own', { computeBudgetInstructions: [budget([2, 0, 0, 0, 0])] },
      'no compute-budget instruction but',
    ],
    ['a heap frame', { computeBudgetInstructions: [budget([1, 0, 0, 4, 0])] }, 'no compute-budget instruction but'],
    ['a price that is cut', { computeBudgetInstructions: [budget([3, 1])] }, 'no compute-budget instruction but'],
    [
      'another program in place of the price', { computeBudgetInstructions: [swap] },
      'no compute-budget instruction but',
    ],
    ['a price hidden in set-up', { setupInstructions: [priceInstruction(1n)] }, 'in their own list only'],
    ['a limit hidden as clean-up', { cleanupInstruction: budget([2, 1, 0, 0, 0]) }, 'in their own list only'],
    ['a heap hidden among others', { otherInstructions: [budget([1, 0, 0, 4, 0])] }, 'in their own list only'],
    ['another signer', { swapInstruction: { ...swap, accounts: [account(other, true)] } }, 'no signer but the payer'],
    ['the payer as program', { swapInstruction: { ...swap, programId: payer } }, 'cannot be a program'],
    ['an account that is no address', { swapInstruction: { ...swap, accounts: [account('0OIl')] } }, 'in base58'],
    ['an account that is too short', { swapInstruction: { ...swap, accounts: [account('abc')] } }, 'in base58'],
    [
      'an account that is far too long', { swapInstruction: { ...swap, accounts: [account('a'.repeat(100_000))] } },
      'in base58',
    ],
    ['a blockhash that is none', { blockhash: 'latest' }, 'in base58'],
    [
      'a table that is none',
      { lookupTables: { table: [other] }, swapInstruction: { ...swap, accounts: [account(other)] } }, 'in base58',
    ],
    [
      'a table that is too large', { lookupTables: { [other]: Array.from({ length: 257 }, () => other) } },
      'at most 256 addresses',
    ],
    [
      'more data than a packet holds', { swapInstruction: { ...swap, data: new Uint8Array(1_200) } },
      'at most 1232 bytes',
    ],
  ])('%s', async (_what, overrides, message) => {
    const compose = createComposer({ simulate: success(1n) });
    await expect(compose({ ...good, ...overrides }, payer)).rejects.toMatchObject({
      code: 'CHAIN_TRANSACTION_INVALID',
      message: expect.stringContaining(message),
    });
  });

  test('more accounts than a transaction can have', async () => {
    const random = seededRandom('many');
    const held = Array.from({ length: 256 }, () => randomAddress(random));
    const build = {
      ...good, lookupTables: { [other]: held },
      swapInstruction: { ...swap, accounts: held.map((pubkey) => account(pubkey)) },
    };
    await expect(createComposer({ simulate: success(1n) })(build, payer)).rejects.toThrow('at most 256 accounts');
  });

  test('a payer that is no address', async () => {
    await expect(createComposer({ simulate: success(1n) })(good, 'me'))
      .rejects.toMatchObject({ code: 'CHAIN_TRANSACTION_INVALID' });
  });
});

function unitLimitIn(transaction: Uint8Array): number {
  const { message } = VersionedTransaction.deserialize(transaction);
  const [first] = message.compiledInstructions;
  expect(message.staticAccountKeys[first!.programIdIndex]!.toBase58()).toBe(COMPUTE_BUDGET);
  return Buffer.from(first!.data).readUInt32LE(1);
}
