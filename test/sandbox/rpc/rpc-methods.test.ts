import {
  createMint, getAccount, getMint, getOrCreateAssociatedTokenAccount, mintTo, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  ComputeBudgetProgram, Connection, SendTransactionError, SystemProgram, Transaction, TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MEMO_PROGRAM, NATIVE_MINT, TOKEN_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { createMarketFixture, landed, MINTS, signedTransaction, walletOf } from '../chain/market-fixture.ts';
import type { Wallet } from '../chain/market-fixture.ts';
import { publicKey, swapInstruction } from '../chain/web3.ts';

let chain: SandboxChain;
let user: Wallet;
let rpc: Awaited<ReturnType<typeof startRpc>>;
let connection: Connection;
const friend = walletOf('friend');

beforeAll(async () => {
  ({ chain, user } = createMarketFixture());
  chain.fundToken({ owner: user.address, mint: MINTS.usd, amount: 1_500_000n });
  chain.fundToken({ owner: user.address, mint: MINTS.fresh, amount: 250n });
  chain.advanceSlots(100);
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
  connection = new Connection(rpc.url, { commitment: 'processed', wsEndpoint: rpc.wsUrl });
});

afterAll(async () => {
  await rpc.close();
});

function payment(lamports: number): Uint8Array {
  const transfer =
    SystemProgram.transfer({ fromPubkey: publicKey(user.address), toPubkey: publicKey(friend.address), lamports });
  return signedTransaction({ chain, payer: user, instructions: [transfer] });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

async function call(
  method: string, ...params: unknown[]
): Promise<{ result?: unknown; error?: { code: number; message: string; data?: unknown } }> {
  const response =
    await fetch(rpc.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  return (await response.json()) as { result?: unknown };
}

describe('the chain as a whole', () => {
  test('tells its version, its health and where it began', async () => {
    expect(await connection.getVersion()).toMatchObject({ 'solana-core': '4.3.0' });
    expect(await connection.getGenesisHash()).toBe(chain.genesisHash);
    expect((await call('getHealth')).result).toBe('ok');
  });

  test('tells slot and height at each commitment', async () => {
    expect(await connection.getSlot('processed')).toBe(chain.slot);
    expect(await connection.getSlot('confirmed')).toBe(chain.slot - 1);
    expect(await connection.getSlot('finalized')).toBe(chain.slot - 32);
    expect((await call('getSlot')).result).toBe(chain.slot - 32);
    expect(await connection.getBlockHeight('processed')).toBe(chain.blockHeight);
    expect(await connection.getBlockHeight('finalized')).toBeLessThan(chain.blockHeight);
    const epoch = await connection.getEpochInfo('processed');
    expect(epoch).toMatchObject({ absoluteSlot: chain.slot, blockHeight: chain.blockHeight, slotsInEpoch: 432_000 });
    expect(epoch.epoch * 432_000 + epoch.slotIndex).toBe(chain.slot);
  });

  test('refuses to answer from before a slot the client has seen elsewhere', async () => {
    expect(await call('getSlot', { commitment: 'processed', minContextSlot: chain.slot }))
      .toMatchObject({ result: chain.slot });
    const { error } = await call('getBalance', user.address, { commitment: 'confirmed', minContextSlot: chain.slot });
    expect(error).toEqual({
      code: -32016, message: 'Minimum context slot has not been reached', data: { contextSlot: chain.slot - 1 },
    });
  });

  test('gives blockhashes with their last height, and judges them in the view of the commitment', async () => {
    const latest = await connection.getLatestBlockhash('confirmed');
    expect(latest).toEqual(chain.latestBlockhash('confirmed'));
    const isValid = async (commitment: 'processed' | 'finalized'): Promise<boolean> =>
      (await connection.isBlockhashValid(latest.blockhash, { commitment })).value;
    expect(await isValid('processed')).toBe(true);
    expect(await isValid('finalized')).toBe(false);
    const old = (await connection.getLatestBlockhash('finalized')).blockhash;
    expect((await connection.isBlockhashValid(old, { commitment: 'finalized' })).value).toBe(true);
  });

  test('tells what an account must keep', async () => {
    expect(await connection.getMinimumBalanceForRentExemption(165)).toBe(2_039_280);
  });

  test('tells the priority fees that landed lately, per accounts locked', async () => {
    const priced = [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 777 }), SystemProgram.transfer({
      fromPubkey: publicKey(user.address), toPubkey: publicKey(friend.address), lamports: 2_000_000,
    })];
    chain.advanceSlots(1);
    const { slot } = landed(chain.land(signedTransaction({ chain, payer: user, instructions: priced })));
    const feeAt = async (lockedWritableAccounts: PublicKey[]): Promise<number | undefined> =>
      (await connection.getRecentPrioritizationFees({ lockedWritableAccounts }))
        .find((entry) => entry.slot === slot)?.prioritizationFee;
    expect(await feeAt([publicKey(friend.address)])).toBe(777);
    expect(await feeAt([publicKey(walletOf('bystander').address)])).toBe(0);
    expect(await connection.getRecentPrioritizationFees()).toHaveLength(150);
  });
});

describe('accounts', () => {
  test('give balance and content, or null', async () => {
    expect(await connection.getBalance(publicKey(user.address))).toBe(Number(chain.balance(user.address)));
    const absent = publicKey(walletOf('absent').address);
    expect(await connection.getBalance(absent)).toBe(0);
    expect(await connection.getAccountInfo(absent)).toBeNull();
    const [account, none] = await connection.getMultipleAccountsInfo([publicKey(user.address), absent]);
    expect(account!.owner.equals(SystemProgram.programId)).toBe(true);
    expect(none).toBeNull();
  });

  test('can be written in every encoding, in full or in part', async () => {
    const tokens = chain.fundToken({ owner: user.address, mint: MINTS.usd, amount: 0n });
    const expected = Buffer.from(chain.account(tokens)!.data);
    const read = async (config: object): Promise<unknown> =>
      ((await call('getAccountInfo', tokens, config)).result as { value: { data: unknown } }).value.data;
    expect(await read({ encoding: 'base64' })).toEqual([expected.toString('base64'), 'base64']);
    expect(await read({ encoding: 'base64', dataSlice: { offset: 64, length: 8 } }))
      .toEqual([expected.subarray(64, 72).toString('base64'), 'base64']);
    expect(await read({ encoding: 'base58', dataSlice: { offset: 0, length: 32 } })).toEqual([MINTS.usd, 'base58']);
    expect(await read({ dataSlice: { offset: 0, length: 32 } })).toBe(MINTS.usd);
    const [compressed] = (await read({ encoding: 'base64+zstd' })) as [string];
    const { zstdDecompressSync } = await import('node:zlib');
    expect(zstdDecompressSync(Buffer.from(compressed, 'base64'))).toEqual(expected);
    expect((await call('getAccountInfo', tokens, { encoding: 'base58' })).error?.message)
      .toContain('should be less than 128 bytes');
  });

  test('of a program are found by size and content', async () => {
    const filters = [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: user.address } }];
    const found = await connection.getProgramAccounts(TOKEN_PROGRAM_ID, { filters });
    expect(found.map(({ pubkey }) => pubkey.toBase58()))
      .toEqual([chain.fundToken({ owner: user.address, mint: MINTS.usd, amount: 0n })]);
    const all = await connection.getParsedProgramAccounts(TOKEN_2022_PROGRAM_ID);
    expect(all.length).toBe(chain.programAccounts(TOKEN_2022_PROGRAM_ID.toBase58()).size);
  });

  test('that are lookup tables are understood by clients', async () => {
    const addresses = [user.address, friend.address];
    const table = chain.createLookupTable(addresses);
    const { value } = await connection.getAddressLookupTable(publicKey(table));
    expect(value!.state.addresses.map((key) => key.toBase58())).toEqual(addresses);
    expect(value!.isActive()).toBe(true);
  });
});

describe('tokens', () => {
  test('of an owner are listed by mint and by program', async () => {
    const owner = publicKey(user.address);
    const byMint = await connection.getParsedTokenAccountsByOwner(owner, { mint: publicKey(MINTS.usd) });
    expect(byMint.value.map(({ account }) => account.data)).toMatchObject([
      { program: 'spl-token', space: 165, parsed: { type: 'account', info: {
        mint: MINTS.usd, owner: user.address, state: 'initialized', isNative: false,
        tokenAmount: { amount: '1500000', decimals: 6, uiAmount: 1.5, uiAmountString: '1.5' },
      } } },
    ]);
    const byProgram = await connection.getParsedTokenAccountsByOwner(owner, { programId: TOKEN_2022_PROGRAM_ID });
    expect(byProgram.value.map(({ account }) => account.data.parsed))
      .toMatchObject([{ info: { mint: MINTS.fresh, extensions: [{ extension: 'immutableOwner' }] } }]);
    expect((await connection.getTokenAccountsByOwner(owner, { programId: TOKEN_PROGRAM_ID })).value).toHaveLength(1);
  });

  test('tell balance and supply, and refuse what is neither account nor mint', async () => {
    const tokens = publicKey(chain.fundToken({ owner: user.address, mint: MINTS.usd, amount: 0n }));
    expect((await connection.getTokenAccountBalance(tokens)).value.amount).toBe('1500000');
    expect((await connection.getTokenSupply(publicKey(MINTS.fresh))).value)
      .toEqual({ amount: '10000000000000000', decimals: 8, uiAmount: 100_000_000, uiAmountString: '100000000' });
    expect((await call('getTokenAccountBalance', walletOf('absent').address)).error)
      .toEqual({ code: -32602, message: 'Invalid param: could not find account' });
    expect((await call('getTokenAccountBalance', user.address, { commitment: 'processed' })).error?.message)
      .toBe('Invalid param: not a Token account');
    expect((await call('getTokenSupply', user.address, { commitment: 'processed' })).error?.message)
      .toBe('Invalid param: not a Token mint');
    expect((await call('getTokenAccountsByOwner', user.address, { programId: user.address })).error?.message)
      .toBe('Invalid param: unrecognized Token program id');
    expect((await call('getTokenAccountsByOwner', user.address, { mint: user.address })).error?.message)
      .toBe('Invalid param: could not find mint');
  });

  test.each([
    ['Token', TOKEN_PROGRAM_ID],
    ['Token-2022', TOKEN_2022_PROGRAM_ID],
  ])('are made, minted and read by the token library on %s', async (_, program) => {
    const ticking = setInterval(() => chain.advanceSlots(1), 20);
    try {
      const options = { commitment: 'confirmed' } as const;
      const confirmed = new Connection(rpc.url, { commitment: 'confirmed', wsEndpoint: rpc.wsUrl });
      const mint =
        await createMint(confirmed, user.keypair, publicKey(user.address), null, 4, undefined, options, program);
      expect(await getMint(confirmed, mint, 'confirmed', program)).toMatchObject({ decimals: 4, supply: 0n });
      const account = await getOrCreateAssociatedTokenAccount(
        confirmed, user.keypair, mint, publicKey(friend.address), false, 'confirmed', options, program,
      );
      await mintTo(
        confirmed, user.keypair, mint, account.address, publicKey(user.address), 12_345n, [], options, program,
      );
      expect((await getAccount(confirmed, account.address, 'confirmed', program)).amount).toBe(12_345n);
      expect((await getMint(confirmed, mint, 'confirmed', program)).supply).toBe(12_345n);
    } finally {
      clearInterval(ticking);
    }
  });

  test('wrapped SOL shows the rent it keeps', async () => {
    chain.fundToken({ owner: user.address, mint: NATIVE_MINT, amount: 5n });
    const { value } =
      await connection.getParsedTokenAccountsByOwner(publicKey(user.address), { mint: publicKey(NATIVE_MINT) });
    expect(value[0]!.account.data.parsed)
      .toMatchObject({ info: { isNative: true, rentExemptReserve: { amount: '2039280', decimals: 9 } } });
  });
});

describe('transactions', () => {
  test('are priced before they are sent', async () => {
    const message = new TransactionMessage({
      payerKey: publicKey(user.address),
      recentBlockhash: chain.latestBlockhash('processed').blockhash,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000 }),
      ],
    }).compileToV0Message();
    expect((await connection.getFeeForMessage(message, 'processed')).value).toBe(25_000);
    expect((await connection.getFeeForMessage(message, 'finalized')).value).toBeNull();
  });

  test('are sent, found by status and told in full', async () => {
    const bytes = payment(3_000_000);
    const signature = await connection.sendRawTransaction(bytes);
    const { slot } = chain;
    expect((await connection.getSignatureStatus(signature)).value)
      .toEqual({ slot, confirmations: 0, err: null, status: { Ok: null }, confirmationStatus: 'processed' });
    expect(await connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }))
      .toBeNull();
    chain.advanceSlots(1);
    expect((await connection.getSignatureStatus(signature)).value)
      .toMatchObject({ confirmations: 1, confirmationStatus: 'confirmed' });
    const told =
      await connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
    expect(told).toMatchObject({
      slot, version: 0, blockTime: chain.transaction(signature)!.unixSeconds,
      meta: { err: null, fee: 5_000, computeUnitsConsumed: 150 },
    });
    expect(told!.meta!.preBalances[0]! - told!.meta!.postBalances[0]!).toBe(3_005_000);
    expect(Buffer.from(told!.transaction.message.serialize()))
      .toEqual(Buffer.from(VersionedTransaction.deserialize(bytes).message.serialize()));
    chain.advanceSlots(31);
    expect((await connection.getSignatureStatus(signature)).value)
      .toMatchObject({ confirmations: null, confirmationStatus: 'finalized' });
  });

  test('may have no version, sent and simulated by the client\'s own functions', async () => {
    const transaction = new Transaction().add(SystemProgram.transfer(
      { fromPubkey: publicKey(user.address), toPubkey: publicKey(friend.address), lamports: 1_111_111 },
    ));
    expect((await connection.simulateTransaction(transaction, [user.keypair])).value.err).toBeNull();
    const signature = await connection.sendTransaction(transaction, [user.keypair]);
    chain.advanceSlots(1);
    expect(await connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }))
      .toMatchObject({ version: 'legacy' });
    expect((await call('getTransaction', signature, { commitment: 'confirmed' })).result).not.toHaveProperty('version');
  });

  test('of version 0 are withheld from clients that never heard of it', async () => {
    const { signature } = landed(chain.land(payment(1_234_567)));
    chain.advanceSlots(1);
    expect((await call('getTransaction', signature, { commitment: 'confirmed' })).error)
      .toMatchObject({ code: -32015 });
  });

  test('show the calls between programs and the tokens that moved', async () => {
    const { usd, fresh } = MINTS;
    const pool = chain.createPool({ mintA: usd, mintB: fresh, feeBps: 30, reserveA: 10n ** 12n, reserveB: 10n ** 12n });
    const hops = [{ pool: pool.address, inputMint: usd, outputMint: fresh }];
    const swap = swapInstruction({ chain, user: user.address, hops, amountIn: 1_000n, minimumOut: 1n });
    const { signature } = landed(chain.land(signedTransaction({ chain, payer: user, instructions: [swap] })));
    chain.advanceSlots(1);
    const told =
      await connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
    expect(told!.meta!.innerInstructions![0]!.instructions).toHaveLength(2);
    const amounts = (
      balances: typeof told extends null ? never : NonNullable<NonNullable<typeof told>['meta']>['preTokenBalances'],
    ): Record<string, string> =>
      Object.fromEntries(balances!.filter(({ owner }) => owner === user.address).map(({ mint, uiTokenAmount }) =>
        [mint, uiTokenAmount.amount]));
    const received = chain.tokenBalance({ owner: user.address, mint: fresh }) - 250n;
    expect(amounts(told!.meta!.preTokenBalances)).toEqual({ [usd]: '1500000', [fresh]: '250' });
    expect(amounts(told!.meta!.postTokenBalances)).toEqual({ [usd]: '1499000', [fresh]: String(250n + received) });
    const parsed =
      await connection.getParsedTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
    expect(parsed!.transaction.message.accountKeys[0])
      .toMatchObject({ signer: true, writable: true, source: 'transaction' });
    expect(parsed!.transaction.message.instructions[0]).toMatchObject({ programId: swap.programId });
  });

  test('that would fail are refused with the simulation\'s logs', async () => {
    const attempt = connection.sendRawTransaction(payment(10 ** 13));
    await expect(attempt).rejects.toBeInstanceOf(SendTransactionError);
    const refused: unknown = await connection.sendRawTransaction(payment(10 ** 13)).catch((error: unknown) => error);
    expect((refused as SendTransactionError).message)
      .toContain('Error processing Instruction 0: custom program error: 0x1');
    expect((refused as SendTransactionError).logs?.join('\n')).toContain('insufficient lamports');
  });

  test('that would fail land and pay when the preflight is skipped', async () => {
    const before = chain.balance(user.address);
    const signature = await connection.sendRawTransaction(payment(10 ** 13), { skipPreflight: true });
    expect((await connection.getSignatureStatus(signature)).value).toMatchObject({
      err: { InstructionError: [0, { Custom: 1 }] }, status: { Err: { InstructionError: [0, { Custom: 1 }] } },
    });
    expect(chain.balance(user.address)).toBe(before - 5_000n);
  });

  test('sent twice execute once', async () => {
    const before = chain.balance(friend.address);
    const bytes = payment(4_000_000);
    const signature = await connection.sendRawTransaction(bytes);
    expect(await connection.sendRawTransaction(bytes, { skipPreflight: true })).toBe(signature);
    await expect(connection.sendRawTransaction(bytes)).rejects.toThrow('This transaction has already been processed');
    expect(chain.balance(friend.address)).toBe(before + 4_000_000n);
  });

  test('with a bad signature, an expired or a too fresh blockhash are refused for that', async () => {
    const options = { encoding: 'base64', preflightCommitment: 'processed' };
    const forged = Buffer.from(payment(1));
    forged[forged.length - 8]! ^= 1;
    expect((await call('sendTransaction', base64(forged), options)).error)
      .toEqual({ code: -32003, message: 'Transaction signature verification failure' });
    const late = payment(1);
    expect((await call('sendTransaction', base64(late), { encoding: 'base64' })).error)
      .toMatchObject({ code: -32002, message: 'Transaction simulation failed: Blockhash not found' });
    chain.advanceSlots(200);
    expect((await call('sendTransaction', base64(late), options)).error)
      .toMatchObject({ code: -32002, data: { err: 'BlockhashNotFound', logs: [] } });
  });

  test('are simulated, with the accounts as they would be', async () => {
    const transaction = VersionedTransaction.deserialize(payment(5_000_000));
    const accounts = { encoding: 'base64' as const, addresses: [friend.address, walletOf('absent').address] };
    const { value } = await connection.simulateTransaction(transaction, { accounts, sigVerify: true });
    expect(value).toMatchObject({ err: null, unitsConsumed: 150 });
    expect(value.accounts!.map((account) => account?.lamports))
      .toEqual([Number(chain.balance(friend.address)) + 5_000_000, undefined]);
    chain.advanceSlots(200);
    expect((await connection.simulateTransaction(transaction)).value.err).toBe('BlockhashNotFound');
    expect((await call(
      'simulateTransaction', base64(transaction.serialize()), { encoding: 'base64', replaceRecentBlockhash: true },
    )).result).toMatchObject({
      value: { err: null, replacementBlockhash: chain.latestBlockhash('finalized') },
    });
  });

  test('of an account are listed newest first, by pages', async () => {
    const reader = walletOf('reader');
    const signatures: string[] = [];
    for (let i = 0; i < 5; i++) {
      signatures.unshift(await connection.requestAirdrop(publicKey(reader.address), 1_000_000 + i));
      chain.advanceSlots(1);
    }
    const list = async (options: object): Promise<string[]> =>
      (await connection.getSignaturesForAddress(publicKey(reader.address), options, 'confirmed'))
        .map(({ signature }) => signature);
    expect(await list({})).toEqual(signatures);
    expect(await list({ limit: 2 })).toEqual(signatures.slice(0, 2));
    expect(await list({ before: signatures[1] })).toEqual(signatures.slice(2));
    expect(await list({ until: signatures[3] })).toEqual(signatures.slice(0, 3));
    expect((await call('getSignaturesForAddress', reader.address)).result).toEqual([]);
    const [newest] = await connection.getSignaturesForAddress(publicKey(MEMO_PROGRAM), { limit: 1 }, 'confirmed');
    expect(newest).toMatchObject({
      signature: signatures[0], err: null, memo: expect.stringMatching(/^\[\d+\] airdrop \d+$/),
      confirmationStatus: 'confirmed',
    });
  });

  test('that are long past are found only by who searches the history', async () => {
    const signature = await connection.requestAirdrop(publicKey(friend.address), 1_000_000);
    chain.advanceSlots(301);
    expect((await connection.getSignatureStatuses([signature])).value).toEqual([null]);
    expect((await connection.getSignatureStatuses([signature], { searchTransactionHistory: true })).value)
      .toMatchObject([{ confirmationStatus: 'finalized' }]);
  });

  test('two equal airdrops in one slot are two payments', async () => {
    const before = await connection.getBalance(publicKey(friend.address));
    const signatures = await Promise.all([1, 2].map(() => connection.requestAirdrop(publicKey(friend.address), 7_000)));
    expect(new Set(signatures).size).toBe(2);
    expect(await connection.getBalance(publicKey(friend.address))).toBe(before + 14_000);
  });
});

test('numbers beyond what a double holds are written in full', async () => {
  const response = await fetch(rpc.url, { method: 'POST', body: JSON.stringify({
    jsonrpc: '2.0', id: 1, method: 'getAccountInfo', params: [TOKEN_PROGRAM, { dataSlice: { offset: 0, length: 0 } }],
  }) });
  expect(await response.text()).toContain('"rentEpoch":18446744073709551615');
});
