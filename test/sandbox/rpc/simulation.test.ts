import { SystemProgram, SYSVAR_EPOCH_SCHEDULE_PUBKEY, Connection, TransactionInstruction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { createMarketFixture, landed, MINTS, signedTransaction, walletOf } from '../chain/market-fixture.ts';
import type { Wallet } from '../chain/market-fixture.ts';
import { publicKey, swapInstruction } from '../chain/web3.ts';

let chain: SandboxChain;
let user: Wallet;
let rpc: Awaited<ReturnType<typeof startRpc>>;

const NOTHING = {
  accounts: null, innerInstructions: null, loadedAddresses: null, preBalances: null, postBalances: null,
  preTokenBalances: null, postTokenBalances: null, replacementBlockhash: null,
};

beforeAll(async () => {
  ({ chain, user } = createMarketFixture());
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
});

afterAll(async () => {
  await rpc.close();
});

interface Answer {
  result?: { value?: Record<string, unknown>; meta?: Record<string, unknown> };
  error?: { code: number; data?: unknown };
}

async function call(method: string, ...params: unknown[]): Promise<Answer> {
  const response =
    await fetch(rpc.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  return (await response.json()) as Answer;
}

const simulate = (bytes: Uint8Array, config: object = {}): Promise<Answer> => call(
  'simulateTransaction', Buffer.from(bytes).toString('base64'),
  { encoding: 'base64', commitment: 'processed', ...config },
);

async function metaOf(signature: string, encoding: string): Promise<Record<string, unknown>> {
  chain.advanceSlots(40);
  const { result } = await call('getTransaction', signature, { encoding, maxSupportedTransactionVersion: 0 });
  return result!.meta!;
}

function swap(): Uint8Array {
  const { usd, fresh } = MINTS;
  const { address } =
    chain.createPool({ mintA: usd, mintB: fresh, feeBps: 30, reserveA: 10n ** 12n, reserveB: 10n ** 13n });
  chain.fundToken({ owner: user.address, mint: usd, amount: 5_000n });
  chain.fundToken({ owner: user.address, mint: fresh, amount: 0n });
  const instruction = swapInstruction({
    chain, user: user.address, amountIn: 1_000n, minimumOut: 1n,
    hops: [{ pool: address, inputMint: usd, outputMint: fresh }],
  });
  const lookupTables = [chain.createLookupTable([address, usd, fresh])];
  return signedTransaction({ chain, payer: user, instructions: [instruction], lookupTables });
}

function pay(lamports: number): TransactionInstruction {
  return SystemProgram.transfer({
    fromPubkey: publicKey(user.address), toPubkey: publicKey(walletOf('friend').address), lamports,
  });
}

describe('a simulation', () => {
  test('answers the fee, the addresses, the balances and the calls that the landed transaction then has', async () => {
    const bytes = swap();
    const { result } = await simulate(bytes, { innerInstructions: true });
    const value = result!.value!;
    const { signature } = landed(chain.land(bytes));
    const parsed = await metaOf(signature, 'jsonParsed');
    const { loadedAddresses } = await metaOf(signature, 'json');
    expect(value['err']).toBeNull();
    for (const name of [
      'fee', 'preBalances', 'postBalances', 'preTokenBalances', 'postTokenBalances', 'innerInstructions',
    ]) expect([name, value[name]]).toEqual([name, parsed[name]]);
    expect(value['innerInstructions']).toMatchObject([{ index: 0, instructions: [{ program: 'spl-token' }, {}] }]);
    expect(value['loadedAddresses']).toEqual(loadedAddresses);
    expect(loadedAddresses).toMatchObject({ writable: [expect.any(String)] });
    expect(value['loadedAccountsDataSize']).toBeGreaterThan(700_000);
  });

  test('names calls only where they are asked for, and a blockhash only where it replaced one', async () => {
    const bytes = signedTransaction({ chain, payer: user, instructions: [pay(1_000_000)] });
    const { result } = await simulate(bytes);
    expect(result!.value).toMatchObject({ err: null, innerInstructions: null, replacementBlockhash: null });
    const asked = await simulate(bytes, { innerInstructions: true, replaceRecentBlockhash: true });
    expect(asked.result!.value).toMatchObject({
      innerInstructions: [], replacementBlockhash: chain.latestBlockhash('processed'),
    });
  });

  test('that fails takes the fee alone', async () => {
    const bytes = signedTransaction({ chain, payer: user, instructions: [pay(10 ** 12)] });
    const value = (await simulate(bytes)).result!.value as {
      preBalances: number[]; postBalances: number[]; err: unknown; fee: number;
    };
    expect(value).toMatchObject({ err: { InstructionError: [0, { Custom: 1 }] }, fee: 5_000 });
    expect(value.postBalances).toEqual(value.preBalances.with(0, value.preBalances[0]! - 5_000));
  });

  test('of what can never land has no fee, and no balances', async () => {
    const poor = walletOf('poor');
    const bytes = signedTransaction({
      chain, payer: poor, instructions: [SystemProgram.transfer({
        fromPubkey: publicKey(poor.address), toPubkey: publicKey(user.address), lamports: 1,
      })],
    });
    expect((await simulate(bytes)).result!.value)
      .toMatchObject({ err: 'AccountNotFound', unitsConsumed: 0, loadedAccountsDataSize: 0, fee: null, ...NOTHING });
    chain.advanceSlots(400);
    const late = signedTransaction({
      chain, payer: user, instructions: [pay(1)], blockhash: '11111111111111111111111111111111',
    });
    expect((await simulate(late)).result!.value).toMatchObject({ err: 'BlockhashNotFound', fee: null, ...NOTHING });
  });

  test('before sending has the fee and the loaded data, and none of the rest', async () => {
    const bytes = Buffer.from(signedTransaction({ chain, payer: user, instructions: [pay(10 ** 12)] }));
    const options = { encoding: 'base64', preflightCommitment: 'processed' };
    expect((await call('sendTransaction', bytes.toString('base64'), options)).error).toMatchObject({
      code: -32002, data: { fee: 5_000, loadedAccountsDataSize: expect.any(Number) as number, ...NOTHING },
    });
  });
});

describe('a landed transaction', () => {
  test('tells what it takes of its block, in every encoding', async () => {
    const { signature } = landed(chain.land(signedTransaction({ chain, payer: user, instructions: [pay(1_000_000)] })));
    for (const encoding of ['json', 'jsonParsed', 'base64']) {
      expect(await metaOf(signature, encoding))
        .toMatchObject({ computeUnitsConsumed: 150, costUnits: 1_481, fee: 5_000 });
    }
  });

  test('that could not load is listed as failed, with its fee', async () => {
    const missing =
      new TransactionInstruction({ programId: publicKey(walletOf('absent').address), keys: [], data: Buffer.of(1) });
    const bytes = Buffer.from(signedTransaction({ chain, payer: user, instructions: [missing] })).toString('base64');
    const sent = await call('sendTransaction', bytes, { encoding: 'base64', preflightCommitment: 'processed' });
    expect(sent.error).toMatchObject({ code: -32002, data: { err: 'ProgramAccountNotFound', fee: 5_000 } });
    const { result } = await call('sendTransaction', bytes, { encoding: 'base64', skipPreflight: true });
    expect(await metaOf(result as string, 'json'))
      .toMatchObject({ err: 'ProgramAccountNotFound', fee: 5_000, computeUnitsConsumed: 0 });
  });
});

test('the account of the epochs\' schedule says what getEpochSchedule says', async () => {
  const connection = new Connection(rpc.url, { commitment: 'processed', wsEndpoint: rpc.wsUrl });
  const { value } = await connection.getParsedAccountInfo(SYSVAR_EPOCH_SCHEDULE_PUBKEY);
  const schedule = (await call('getEpochSchedule')).result;
  expect(value!.data).toMatchObject({ parsed: { type: 'epochSchedule', info: schedule } });
  expect(schedule).toMatchObject({ warmup: false, firstNormalEpoch: 0, firstNormalSlot: 0 });
});
