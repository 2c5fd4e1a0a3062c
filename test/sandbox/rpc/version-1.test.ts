import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import type { Instruction, Signature } from '@solana/kit';
import { address, createSolanaRpc, signature as signatureOf } from '@solana/kit';
import { Connection, MessageV1, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MEMO_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { PAYMENT_VERSIONS } from '../../../src/sandbox/chain/faucet.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { createMarketFixture, landed, MINTS, walletOf } from '../chain/market-fixture.ts';
import type { Wallet } from '../chain/market-fixture.ts';
import { ENOUGH, version1Payment } from '../chain/version-1.ts';

let chain: SandboxChain;
let user: Wallet;
let rpc: Awaited<ReturnType<typeof startRpc>>;
let connection: Connection;
let kit: ReturnType<typeof createSolanaRpc>;
const friend = walletOf('friend');

beforeAll(async () => {
  ({ chain, user } = createMarketFixture());
  chain.advanceSlots(100);
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
  connection = new Connection(rpc.url, { commitment: 'confirmed', wsEndpoint: rpc.wsUrl });
  kit = createSolanaRpc(rpc.url);
});

afterAll(async () => {
  await rpc.close();
});

type Payment = Omit<Parameters<typeof version1Payment>[0], 'chain' | 'payer' | 'to'>;

const payment = (options: Payment): Promise<Buffer> =>
  version1Payment({ chain, payer: user, to: friend.address, ...options });

async function call(
  method: string, ...params: unknown[]
): Promise<{ result?: unknown; error?: { code: number; message: string; data?: unknown } }> {
  const response =
    await fetch(rpc.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  return (await response.json()) as { result?: unknown };
}

const send = (bytes: Buffer): ReturnType<typeof call> =>
  call('sendTransaction', bytes.toString('base64'), { encoding: 'base64', preflightCommitment: 'processed' });

async function sent(bytes: Buffer): Promise<Signature> {
  const { result, error } = await send(bytes);
  expect(error).toBeUndefined();
  chain.advanceSlots(1);
  return signatureOf(result as string);
}

const simulate = (encoded: Buffer, config: object): ReturnType<typeof call> =>
  call('simulateTransaction', encoded.toString('base64'), { encoding: 'base64', commitment: 'processed', ...config });

const note = (length: number): Instruction[] =>
  [{ programAddress: address(MEMO_PROGRAM), data: Buffer.alloc(length, 'a') }];

const refusalOf = (version: number): object => ({
  error: {
    code: -32015,
    message: `Transaction version (${version}) is not supported by the requesting client. Please try the request `
      + `again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  },
});

describe('a version 1 transaction that kit composed and signed', () => {
  test.each([
    ['no priority fee', { ...ENOUGH }, 0n],
    ['a priority fee, in lamports', { ...ENOUGH, priorityFeeLamports: 12_345n }, 12_345n],
    ['a heap', { ...ENOUGH, heapSize: 262_144, priorityFeeLamports: 1n }, 1n],
    ['the smallest limits that are enough', { computeUnitLimit: 150, loadedAccountsDataSizeLimit: 300 }, 0n],
  ])('lands with %s, and costs exactly its fee', async (_, config, priorityLamports) => {
    const before = chain.balance(user.address);
    const bytes = await payment({ lamports: 2_000_000n + BigInt(config.computeUnitLimit), config });
    const message = bytes.subarray(0, -64).toString('base64');
    expect((await call('getFeeForMessage', message, { commitment: 'processed' })).result)
      .toMatchObject({ value: Number(5_000n + priorityLamports) });
    const signature = await sent(bytes);
    const { meta } = (await kit.getTransaction(signature,
      { maxSupportedTransactionVersion: 1, commitment: 'confirmed', encoding: 'json' }).send())!;
    expect(meta).toMatchObject({ err: null, fee: 5_000n + priorityLamports });
    expect(before - chain.balance(user.address)).toBe(2_000_000n + BigInt(config.computeUnitLimit) + meta!.fee);
  });

  test.each([
    ['fails without a compute unit limit, which is zero then, and pays its fee',
      { loadedAccountsDataSizeLimit: 1_000_000, priorityFeeLamports: 5n },
      { InstructionError: [0, 'ComputationalBudgetExceeded'] }, 5_005n],
    ['ignores a limit that an instruction names', { loadedAccountsDataSizeLimit: 1_000_000 },
      { InstructionError: [0, 'ComputationalBudgetExceeded'] }, 5_000n],
  ])('%s', async (_, config, error, fee) => {
    const more = [getSetComputeUnitLimitInstruction({ units: 100_000 })];
    const result = landed(chain.land(await payment({ lamports: 2_100_000n + fee, config, more })));
    expect(result.error).toEqual(error);
    expect(result.feeLamports).toBe(fee);
  });

  test('is refused without a limit on loaded data, which is zero then', async () => {
    const bytes = await payment({ lamports: 2_200_000n, config: { computeUnitLimit: 20_000 } });
    expect((await send(bytes)).error)
      .toMatchObject({ code: -32002, data: { err: 'MaxLoadedAccountsDataSizeExceeded' } });
  });

  test('may have 4,096 bytes in base64, and no more than a packet in base58', async () => {
    const config = { computeUnitLimit: 1_400_000, loadedAccountsDataSizeLimit: 1_000_000 };
    const shortest = await payment({ lamports: 2_300_000n, config, more: note(0) });
    const longest = await payment({ lamports: 2_300_000n, config, more: note(4_096 - shortest.length) });
    expect(longest).toHaveLength(4_096);
    const signature = await sent(longest);
    expect(chain.transaction(signature)).toMatchObject({ error: null });
    expect((await send(Buffer.concat([longest, Buffer.alloc(1)]))).error).toMatchObject({
      code: -32602, message: expect.stringContaining('decoded transaction too large') as string,
    });
    expect((await call('sendTransaction', bs58.encode(longest))).error).toMatchObject({
      code: -32602, message: expect.stringContaining('base58 encoded transaction too large') as string,
    });
    const asked = { encoding: 'base64', maxSupportedTransactionVersion: 1, commitment: 'confirmed' };
    expect((await call('getTransaction', signature, asked)).result)
      .toMatchObject({ version: 1, transaction: [longest.toString('base64'), 'base64'] });
  });

  test('without version 1 in front, a longer transaction than a packet is refused', async () => {
    const long = Buffer.alloc(1_233, 1).toString('base64');
    for (const method of ['sendTransaction', 'simulateTransaction']) expect(
      (await call(method, long, { encoding: 'base64' })).error,
    ).toMatchObject({ code: -32602, message: expect.stringContaining('too large') as string });
  });

  test('is simulated, with and without its signature', async () => {
    const bytes = await payment({ lamports: 2_400_000n, config: { ...ENOUGH, priorityFeeLamports: 9n } });
    expect((await simulate(bytes, { sigVerify: true })).result)
      .toMatchObject({ value: { err: null, unitsConsumed: 150 } });
    const unsigned = Buffer.concat([bytes.subarray(0, -64), Buffer.alloc(64)]);
    expect((await simulate(unsigned, {})).result).toMatchObject({ value: { err: null } });
    expect((await simulate(unsigned, { sigVerify: true })).error).toMatchObject({ code: -32003 });
  });

  test('of a version that no node knows is refused', async () => {
    const bytes = await payment({ lamports: 2_500_000n, config: ENOUGH });
    bytes[0] = 0x82;
    expect((await call('sendTransaction', bytes.toString('base64'), { encoding: 'base64', skipPreflight: true })).error)
      .toMatchObject({
        code: -32602, message: expect.stringContaining('failed to deserialize transaction') as string,
      });
  });
});

describe('reading a version 1 transaction', () => {
  const config = { ...ENOUGH, priorityFeeLamports: 4_321n };
  const shown = {
    priorityFee: 4_321, computeUnitLimit: 20_000, loadedAccountsDataSizeLimit: 1_000_000, heapSize: null,
  };
  let bytes: Buffer;
  let signature: Signature;
  let slot: number;

  beforeAll(async () => {
    bytes = await payment({ lamports: 3_000_000n, config });
    signature = await sent(bytes);
    slot = chain.transaction(signature)!.slot;
    chain.advanceSlots(40);
  });

  test('names its configuration in JSON, raw and parsed', async () => {
    for (const encoding of ['json', 'jsonParsed']) {
      const { result } = await call('getTransaction', signature, { encoding, maxSupportedTransactionVersion: 1 });
      expect(result).toMatchObject({ version: 1, transaction: { message: { transactionConfig: shown } } });
      expect(result).not.toHaveProperty('transaction.message.addressTableLookups');
    }
    const parsed = await kit.getTransaction(signature,
      { maxSupportedTransactionVersion: 1, encoding: 'jsonParsed' }).send();
    expect(parsed!.transaction.message.instructions[0]).toMatchObject({
      program: 'system', stackHeight: 1, parsed: { type: 'transfer', info: { lamports: 3_000_000n } },
    });
  });

  test('gives web3.js a message of version 1, in a transaction and in its block', async () => {
    const transaction = (await connection.getTransaction(signature, { maxSupportedTransactionVersion: 1 }))!;
    expect(transaction.version).toBe(1);
    expect(transaction.transaction.message).toBeInstanceOf(MessageV1);
    expect(transaction.transaction.message).toMatchObject({ transactionConfig: shown });
    const block = (await connection.getBlock(slot, { maxSupportedTransactionVersion: 1 }))!;
    expect(block.transactions.map(({ version }) => version)).toContain(1);
    expect(VersionedTransaction.deserialize(bytes).message).toMatchObject({ transactionConfig: shown });
  });

  test.each([[undefined], [0]])('is refused to a client that states %s', async (maxSupportedTransactionVersion) => {
    for (const encoding of ['json', 'jsonParsed', 'base64', 'base58']) {
      const options = { encoding, maxSupportedTransactionVersion };
      expect(await call('getTransaction', signature, options)).toMatchObject(refusalOf(1));
      expect(await call('getBlock', slot, options)).toMatchObject(refusalOf(1));
    }
    expect(await call('getBlock', slot, { transactionDetails: 'accounts', maxSupportedTransactionVersion }))
      .toMatchObject(refusalOf(1));
    for (const transactionDetails of ['signatures', 'none'])
      expect(await call('getBlock', slot, { transactionDetails, maxSupportedTransactionVersion }))
        .toMatchObject({ result: { parentSlot: expect.any(Number) as number } });
  });

  test('stands in the lists of both wallets', async () => {
    for (const { address } of [user, friend]) {
      const { result } = await call('getSignaturesForAddress', address);
      expect(result).toContainEqual(expect.objectContaining({ signature, slot, err: null }));
    }
  });
});

describe('a payment of the faucet', () => {
  test.each(PAYMENT_VERSIONS)('of version %s stands in the history of its receiver', async (version) => {
    const { address } = walletOf(`receiver of ${version}`);
    const signature = chain.faucet.airdrop(address, 1_500_000n, version);
    chain.advanceSlots(40);
    expect(chain.balance(address)).toBe(1_500_000n);
    expect((await call('getSignaturesForAddress', address)).result)
      .toEqual([expect.objectContaining({ signature, err: null })]);
    const { slot } = chain.transaction(signature)!;
    const highest = version === 'legacy' ? 0 : version;
    for (const encoding of ['json', 'jsonParsed', 'base64']) {
      const options = { encoding, maxSupportedTransactionVersion: highest };
      expect(await call('getTransaction', signature, options)).toMatchObject({
        result: { version, slot, meta: { fee: 5_000, err: null } },
      });
      expect(await call('getBlock', slot, options)).toMatchObject({ result: { transactions: [{ version }] } });
    }
    if (highest === 0) return;
    const less = { maxSupportedTransactionVersion: highest - 1 };
    expect(await call('getTransaction', signature, less)).toMatchObject(refusalOf(highest));
    expect(await call('getBlock', slot, less)).toMatchObject(refusalOf(highest));
  });

  test('comes from one stranger, whose first byte names a later version', async () => {
    const signature = chain.faucet.airdrop(friend.address, 1_600_000n, 2);
    chain.advanceSlots(40);
    const options = { encoding: 'base64', maxSupportedTransactionVersion: 2 };
    const { result } = await call('getTransaction', signature, options) as
      { result: { transaction: [string, string] } };
    expect(Buffer.from(result.transaction[0], 'base64')[0]).toBe(0x82);
    expect(chain.transaction(signature)!.accountKeys[0]).toBe(chain.faucet.address);
    expect(createMarketFixture().chain.faucet.address).toBe(chain.faucet.address);
    expect(MINTS.usd).not.toBe(chain.faucet.address);
  });
});
