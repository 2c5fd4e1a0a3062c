import { Keypair, SystemProgram, Transaction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createChain, type Chain } from '../../src/chain/chain.ts';
import { isGannetError } from '../../src/core/errors.ts';
import { seededRandom } from '../../src/core/random.ts';
import { SOL_MINT, USDC_MINT, type Mint } from '../../src/market/token.ts';
import { mutate, randomTransaction } from '../signer/random-transaction.ts';
import { startHostileNode, wallClock, type HostileNode } from './hostile-node.ts';
import { randomAddress, randomBuild } from './random-build.ts';

const random = seededRandom('chain');
const owner = randomAddress(random);
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

let node: HostileNode;
let chain: Chain;

beforeAll(async () => {
  node = await startHostileNode();
});
afterAll(() => node.close());
beforeEach(() => {
  chain = createChain({ rpcUrl: node.url, clock: wallClock });
  return () => chain.close();
});

function signatureOf(number: number): string {
  const bytes = Buffer.alloc(64, 0xa5);
  bytes.writeUInt32BE(number, 0);
  return bs58.encode(bytes);
}
const at = (slot: number, value: unknown) => ({ context: { slot }, value });

function refuseWith(error: object): void {
  node.answer((request, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id: request.id, error })));
}

describe('sending', () => {
  test('requests neither preflight nor retries of the node', async () => {
    node.result(() => signatureOf(1));
    expect(await chain.send(new Uint8Array([1, 2, 3]))).toEqual({ kind: 'accepted' });
    expect(node.requests.at(-1)).toMatchObject({
      method: 'sendTransaction', params: ['AQID', { encoding: 'base64', skipPreflight: true, maxRetries: 0 }],
    });
  });

  test('returns a node’s refusal as an answer, with its reason', async () => {
    refuseWith({ code: -32_002, message: 'Blockhash not found', data: { err: 'BlockhashNotFound' } });
    expect(await chain.send(new Uint8Array(1)))
      .toEqual({ kind: 'rejected', code: 'BlockhashNotFound', message: 'Blockhash not found' });
    refuseWith({ code: -32_602, message: 'invalid' });
    expect(await chain.send(new Uint8Array(1))).toMatchObject({ kind: 'rejected', code: '-32602' });
  });

  test('throws where no answer came, since the outcome is unknown', async () => {
    node.answer((_request, response) => response.destroy());
    await expect(chain.send(new Uint8Array(1))).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
  });
});

/** Before it is asked for a status, a node is asked how far it is. */
const finalizedOr = (result: () => unknown) => ({ method }: { readonly method: string }): unknown =>
  (method === 'getEpochInfo' ? { absoluteSlot: 3, blockHeight: 2 } : result());

describe('the status of a signature', () => {
  test('is the node’s status, with the code of a failure', async () => {
    node.result(finalizedOr(() => at(5, [
      { slot: 4, confirmations: 1, err: { InstructionError: [1, { Custom: 6_001 }] }, confirmationStatus: 'confirmed' },
    ])));
    expect(await chain.signatureStatus(signatureOf(1), { searchHistory: true }))
      .toMatchObject({ slot: 4n, confirmation: 'confirmed', error: { code: '6001' } });
    expect(node.requests.at(-1)).toMatchObject({ params: [[signatureOf(1)], { searchTransactionHistory: true }] });
  });

  test('is undefined where the node does not know the signature', async () => {
    node.result(finalizedOr(() => at(5, [null])));
    expect(await chain.signatureStatus(signatureOf(1), { searchHistory: false })).toBeUndefined();
  });

  test.each([[[]], [[null, null]], ['landed'], [[{ slot: -1, err: null, confirmationStatus: 'confirmed' }]], [
    [{ slot: 1, err: null, confirmationStatus: 'maybe' }],
  ], [[{ slot: 6, err: null, confirmationStatus: 'confirmed' }]]])(
    'is CHAIN_RESPONSE_INVALID where the node says %j',
    async (value) => {
      node.result(finalizedOr(() => at(5, value)));
      await expect(chain.signatureStatus(signatureOf(1), { searchHistory: true }))
        .rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
    },
  );
});

async function heightSeenAt(absoluteSlot: number): Promise<void> {
  node.result(() => ({ absoluteSlot, blockHeight: 700, epoch: 1 }));
  expect(await chain.finalizedBlockHeight()).toBe(700n);
  expect(node.requests.at(-1)).toMatchObject({ params: [{ commitment: 'finalized' }] });
}

describe('an expiry proof', () => {
  test('is not accepted from a node behind the known height', async () => {
    await heightSeenAt(1_000);
    node.result(({ method }) => at(999, method === 'isBlockhashValid' ? false : [null]));
    await expect(chain.isBlockhashValid(owner)).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
    await expect(chain.signatureStatus(signatureOf(1), { searchHistory: true }))
      .rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
  });

  test('is accepted from a node at the known height', async () => {
    await heightSeenAt(1_000);
    node.result(({ method }) => at(1_000, method === 'isBlockhashValid' ? false : [null]));
    expect(await chain.isBlockhashValid(owner)).toBe(false);
    expect(await chain.signatureStatus(signatureOf(1), { searchHistory: true })).toBeUndefined();
    expect(node.requests.find(({ method }) => method === 'isBlockhashValid'))
      .toMatchObject({ params: [owner, { commitment: 'finalized' }] });
  });

  test('requires a history up to the known slot', async () => {
    await heightSeenAt(1_000);
    history(3, { slotsApart: 1 });
    expect(await find()).toBeUndefined();
    const listing = node.requests.findLast(({ method }) => method === 'getSignaturesForAddress');
    expect(listing).toMatchObject({ params: [owner, { limit: 1_000, minContextSlot: 1_000 }] });
  });

  test('may be contradicted by any node, even one that lags', async () => {
    await heightSeenAt(1_000);
    node.result(({ method }) =>
      at(10, method === 'isBlockhashValid' ? true : [{ slot: 9, err: null, confirmationStatus: 'finalized' }]));
    expect(await chain.isBlockhashValid(owner)).toBe(true);
    expect(await chain.signatureStatus(signatureOf(1), { searchHistory: true }))
      .toMatchObject({ confirmation: 'finalized' });
  });
});

/** A wallet's history, in which one transaction may be ours; no transaction itself is to be had. */
function history(count: number, options: { slotsApart: number; ours?: number }) {
  const entries = Array.from({ length: count }, (_, index) => ({
    signature: index === options.ours ? ourId : signatureOf(index + 1),
    slot: 1_000_000_000 - index * options.slotsApart, err: null,
  }));
  node.result(({ method, params }) => {
    if (method !== 'getSignaturesForAddress') return null;
    const page = params[1] as { limit: number; before?: string };
    const start = page.before === undefined ? 0 : entries.findIndex(({ signature }) => signature === page.before) + 1;
    return entries.slice(start, start + page.limit);
  });
  return entries;
}

const ourTransaction = transferTransaction();
const ourId = bs58.encode(Transaction.from(ourTransaction).signatures[0]!.signature!);

function transferTransaction(): Uint8Array {
  const [from, to] = [1, 2].map((seed) => Keypair.fromSeed(new Uint8Array(32).fill(seed)));
  const transaction = new Transaction({ feePayer: from!.publicKey, recentBlockhash: to!.publicKey.toBase58() });
  transaction.add(SystemProgram.transfer({ fromPubkey: from!.publicKey, toPubkey: to!.publicKey, lamports: 1 }));
  transaction.sign(from!);
  return transaction.serialize();
}

function transactionWith(signatures: readonly string[]): object {
  const meta = { err: null, fee: 5_000, preBalances: [1], postBalances: [1] };
  return { slot: 1, meta, transaction: { signatures, message: { accountKeys: [owner], instructions: [] } } };
}

function find(sinceSlot?: bigint): ReturnType<typeof chain.findBySigner> {
  return chain.findBySigner({ owner, transaction: ourTransaction, sinceSlot });
}

const NEWEST_SLOT = 1_000_000_000n;
const DAY_SLOTS = 216_000n;

describe('finding a transaction for which another account pays', () => {
  test('returns the fee payer’s signature of its message as the id, and reads no transaction', async () => {
    const entries = history(30, { slotsApart: 1, ours: 17 });
    const before = node.requests.length;
    expect(await find()).toBe(entries[17]!.signature);
    expect(node.requests.slice(before).map(({ method }) => method)).toEqual(['getSignaturesForAddress']);
  });

  test('continues with older pages', async () => {
    const entries = history(2_500, { slotsApart: 1, ours: 2_220 });
    expect(await find()).toBe(entries[2_220]!.signature);
  });

  test('returns undefined after the whole history', async () => {
    history(30, { slotsApart: 1 });
    expect(await find()).toBeUndefined();
  });

  test('goes back to the slot of its signing, however many transactions came since', async () => {
    const entries = history(9_000, { slotsApart: 30, ours: 7_000 });
    expect(await find(NEWEST_SLOT - DAY_SLOTS)).toBe(entries[7_000]!.signature);
  });

  test('searches the whole history where the slot of the signing is unknown', async () => {
    const entries = history(1_900, { slotsApart: 9_001, ours: 1_899 });
    expect(await find()).toBe(entries[1_899]!.signature);
  });

  test('stops at transactions older than the signing', async () => {
    history(3_000, { slotsApart: 10, ours: 1_300 });
    const before = node.requests.length;
    expect(await find(NEWEST_SLOT - 11_000n)).toBeUndefined();
    expect(node.requests.slice(before)).toHaveLength(2);
  });

  test('allows a minute of error in the slot of its signing', async () => {
    const entries = history(30, { slotsApart: 10, ours: 20 });
    expect(await find(NEWEST_SLOT - 100n)).toBe(entries[20]!.signature);
  });

  test('throws where there are too many transactions', async () => {
    history(41_000, { slotsApart: 0 });
    await expect(find(NEWEST_SLOT - DAY_SLOTS))
      .rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID', message: expect.stringContaining('more than 40000') });
  });
});

describe('reading a landed swap', () => {
  const swap = { signature: ourId, owner, inputMint: SOL_MINT, outputMint: USDC_MINT };

  test('is undefined while the node does not have it', async () => {
    node.result(() => null);
    expect(await chain.landedSwap(swap)).toBeUndefined();
    expect(node.requests.at(-1))
      .toMatchObject({ params: [ourId, { commitment: 'confirmed', maxSupportedTransactionVersion: 1 }] });
  });

  test('does not read the transaction of another signature, nor one without balances', async () => {
    const unreadable = { kind: 'unreadable', signature: ourId, mayBeOwn: true };
    node.result(() => transactionWith([signatureOf(3)]));
    expect(await chain.landedSwap(swap)).toMatchObject(unreadable);
    node.result(() => ({ ...transactionWith([ourId]), meta: null }));
    expect(await chain.landedSwap(swap)).toMatchObject(unreadable);
  });
});

function account(programId: string, size: number, write: (data: Buffer) => void): object {
  const data = Buffer.alloc(size);
  write(data);
  return {
    owner: programId, lamports: 1, data: [data.toString('base64'), 'base64'], executable: false,
    rentEpoch: 18_446_744_073_709_552_000,
  };
}

function tokenAccount(mint: string, amount: bigint, options: { program?: string; size?: number } = {}): object {
  const { program = TOKEN, size = 165 } = options;
  const holder = account(program, size, (data) => {
    data.set(bs58.decode(mint), 0);
    data.writeBigUInt64LE(amount, 64);
    data.writeUInt8(1, 108);
    if (size > 165) data.writeUInt8(2, 165);
  });
  return { pubkey: randomAddress(random), account: holder };
}

function holdAccounts(accounts: Readonly<Record<string, readonly object[]>>): void {
  node.result(({ method, params }) => {
    if (method === 'getBalance') return at(1, 1_000);
    return at(1, accounts[(params[1] as { programId: string }).programId] ?? []);
  });
}

describe('balances', () => {
  const bonk = randomAddress(random);
  test('add up native and wrapped SOL, and all accounts of a mint in both token programs', async () => {
    holdAccounts({
      [TOKEN]: [tokenAccount(SOL_MINT, 500n), tokenAccount(bonk, 2n ** 64n - 1n), tokenAccount(USDC_MINT, 0n)],
      [TOKEN_2022]: [
        tokenAccount(owner, 7n, { program: TOKEN_2022, size: 170 }), tokenAccount(owner, 8n, { program: TOKEN_2022 }),
      ],
    });
    expect(await chain.balances(owner)).toEqual(new Map([[SOL_MINT, 1_500n], [bonk, 2n ** 64n - 1n], [owner, 15n]]));
  });

  test.each([
    [
      'an account of another program',
      { pubkey: randomAddress(random), account: account(randomAddress(random), 165, () => undefined) },
    ],
    ['an account that is cut', { pubkey: randomAddress(random), account: account(TOKEN, 100, () => undefined) }],
    ['a mint in place of an account', { pubkey: randomAddress(random), account: account(TOKEN, 82, () => undefined) }],
    ['data that is not base64', { pubkey: randomAddress(random), account: { owner: TOKEN, data: ['***', 'base64'] } }],
  ])('refuse %s', async (_what, entry) => {
    holdAccounts({ [TOKEN]: [entry] });
    await expect(chain.balances(owner)).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
  });
});

describe('the decimals of a mint', () => {
  const mint = randomAddress(random) as Mint;
  const mintAccount = (program: string, size: number, type = 0) =>
    account(program, size, (data) => {
      data.set([9, 1], 44);
      if (size > 165) data.writeUInt8(type, 165);
    });

  test.each([
    ['a plain mint', mintAccount(TOKEN, 82)],
    ['a mint of the newer program', mintAccount(TOKEN_2022, 82)],
    ['a mint with extensions', mintAccount(TOKEN_2022, 278, 1)],
  ])('are those of %s', async (_what, value) => {
    node.result(() => at(1, value));
    expect(await chain.mintDecimals(mint)).toBe(9);
  });

  test.each([
    ['nothing', null],
    ['a wallet', account('11111111111111111111111111111111', 0, () => undefined)],
    ['a token account', mintAccount(TOKEN, 165)],
    ['a token account with extensions', mintAccount(TOKEN_2022, 170, 2)],
    ['a mint that was never set up', account(TOKEN, 82, () => undefined)],
    ['an account of the same form of another program', mintAccount(randomAddress(random), 82)],
  ])('are refused of %s', async (_what, value) => {
    node.result(() => at(1, value));
    await expect(chain.mintDecimals(mint)).rejects.toMatchObject({ code: 'MINT_INVALID' });
  });
});

describe('composing a swap', () => {
  const build = randomBuild('good', owner);

  test('simulates without signatures, with the blockhash replaced', async () => {
    node.result(() => at(1, { err: null, unitsConsumed: 1_000, logs: [] }));
    expect(await chain.compose(build, owner)).toMatchObject({ unitLimit: 1_200 });
    expect(node.requests.at(-1)).toMatchObject({
      method: 'simulateTransaction',
      params: [expect.any(String), { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true }],
    });
  });

  test('is CHAIN_SIMULATION_FAILED where the swap would fail', async () => {
    node.result(() => at(1, { err: { InstructionError: [2, { Custom: 6_001 }] }, unitsConsumed: 900, logs: null }));
    await expect(chain.compose(build, owner))
      .rejects.toMatchObject({ code: 'CHAIN_SIMULATION_FAILED', details: { code: '6001' } });
  });

  test.each([
    { err: null, logs: [] }, { err: null, unitsConsumed: 0 }, { err: null, unitsConsumed: 'many' }, null,
  ])('does not believe a simulation that says %j', async (value) => {
    node.result(() => at(1, value));
    await expect(chain.compose(build, owner)).rejects.toMatchObject({ code: 'CHAIN_RESPONSE_INVALID' });
  });
});

describe('version and network', () => {
  test('are those of the node', async () => {
    node.result(({ method }) => (method === 'getVersion' ? { 'solana-core': '4.2.0', 'feature-set': 1 } : USDC_MINT));
    expect(await chain.version()).toBe('4.2.0');
    expect(await chain.genesisHash()).toBe(USDC_MINT);
  });
});

describe('readTransactionFacts', () => {
  test('agrees with the reference library for both versions', () => {
    for (let seed = 0; seed < 300; seed++) {
      const transaction =
        randomTransaction(seededRandom(seed), [Keypair.fromSeed(new Uint8Array(32).fill(1)).publicKey]);
      const bytes = trySerialize(transaction);
      if (bytes === undefined) continue;
      const { message } = VersionedTransaction.deserialize(bytes);
      const signers = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures).map(String);
      expect(chain.readTransaction(bytes))
        .toEqual({
          blockhash: message.recentBlockhash, feePayer: signers[0], signers, durableNonce: false,
          isWhole: transaction.signatures.every((signature) => signature.some((byte) => byte !== 0)),
        });
    }
  });

  test('distinguishes a durable-nonce transaction from one that only advances a nonce later', () => {
    const payer = Keypair.fromSeed(new Uint8Array(32).fill(1)).publicKey;
    const advance = SystemProgram.nonceAdvance({
      noncePubkey: Keypair.fromSeed(new Uint8Array(32).fill(2)).publicKey, authorizedPubkey: payer,
    });
    const transfer = SystemProgram.transfer({ fromPubkey: payer, toPubkey: payer, lamports: 1 });
    const facts = [[advance, transfer], [transfer, advance], [transfer]].map((instructions) => {
      const message = new TransactionMessage({ payerKey: payer, recentBlockhash: payer.toBase58(), instructions })
        .compileToV0Message();
      return chain.readTransaction(new VersionedTransaction(message).serialize()).durableNonce;
    });
    expect(facts).toEqual([true, false, false]);
  });

  test('throws nothing but CHAIN_TRANSACTION_INVALID for any bytes', () => {
    let refusals = 0;
    for (let seed = 0; seed < 1_000; seed++) {
      const bytes = trySerialize(randomTransaction(seededRandom(seed)));
      if (bytes === undefined) continue;
      try {
        chain.readTransaction(mutate(seededRandom(`mutation ${seed}`), bytes));
      } catch (error) {
        expect(isGannetError(error) && error.code === 'CHAIN_TRANSACTION_INVALID').toBe(true);
        refusals += 1;
      }
    }
    expect(refusals).toBeGreaterThan(50);
  });
});

function trySerialize(transaction: VersionedTransaction): Uint8Array | undefined {
  try {
    return transaction.serialize();
  } catch {
    // Too large for a packet.
    return undefined;
  }
}
