import type { NonceAccount } from '@solana/web3.js';
import {
  Connection, Keypair, NONCE_ACCOUNT_LENGTH, SystemProgram, Transaction, TransactionInstruction, TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SandboxChain } from '../../../src/sandbox/chain/chain.ts';
import { startRpc } from '../../../src/sandbox/rpc/server.ts';
import { createMarketFixture, landed, signedTransaction, walletOf } from '../chain/market-fixture.ts';
import type { Wallet } from '../chain/market-fixture.ts';
import { publicKey } from '../chain/web3.ts';

let chain: SandboxChain;
let user: Wallet;
let rpc: Awaited<ReturnType<typeof startRpc>>;
let connection: Connection;
let nonceKey: Keypair;
const friend = walletOf('friend');

beforeAll(async () => {
  ({ chain, user } = createMarketFixture());
  chain.advanceSlots(100);
  rpc = await startRpc({ chain, port: 0, host: '127.0.0.1' });
  connection = new Connection(rpc.url, { commitment: 'processed', wsEndpoint: rpc.wsUrl });
});

afterAll(async () => {
  await rpc.close();
});

beforeEach(async () => {
  nonceKey = Keypair.generate();
  const create = new Transaction({ feePayer: user.keypair.publicKey, ...chain.latestBlockhash('processed') });
  create.add(SystemProgram.createNonceAccount({
    fromPubkey: user.keypair.publicKey, noncePubkey: nonceKey.publicKey, authorizedPubkey: user.keypair.publicKey,
    lamports: Number(chain.rentExemption(NONCE_ACCOUNT_LENGTH)),
  }));
  create.sign(user.keypair, nonceKey);
  await connection.sendRawTransaction(create.serialize());
  // A nonce cannot advance in the block in which it was made, and no blockhash of now is known after that many slots.
  chain.advanceSlots(400);
});

const transfer = (lamports: number): TransactionInstruction => SystemProgram.transfer(
  { fromPubkey: user.keypair.publicKey, toPubkey: publicKey(friend.address), lamports },
);

const advance = (): TransactionInstruction =>
  SystemProgram.nonceAdvance({ noncePubkey: nonceKey.publicKey, authorizedPubkey: user.keypair.publicKey });

const stored = async (): Promise<NonceAccount> => (await connection.getNonce(nonceKey.publicKey))!;

function durable(nonce: string, ...instructions: TransactionInstruction[]): Buffer {
  const [nonceInstruction, ...rest] = instructions;
  const transaction =
    new Transaction({ feePayer: user.keypair.publicKey, nonceInfo: { nonce, nonceInstruction: nonceInstruction! } });
  transaction.add(...rest).sign(user.keypair);
  return transaction.serialize();
}

describe('a transaction on a durable nonce', () => {
  test('lands long after any blockhash, advances the nonce, and never lands again', async () => {
    const before = await stored();
    const bytes = durable(before.nonce, advance(), transfer(5_000_000));
    chain.advanceSlots(1_000);
    expect((await connection.isBlockhashValid(before.nonce)).value).toBe(false);
    const fee = await connection.getFeeForMessage(Transaction.from(bytes).compileMessage());
    expect(fee.value).toBe(5_000);
    const held = chain.balance(friend.address);
    const signature = await connection.sendRawTransaction(bytes);
    expect(chain.transaction(signature)).toMatchObject({ error: null, feeLamports: 5_000n });
    expect(chain.balance(friend.address) - held).toBe(5_000_000n);
    const after = await stored();
    expect(after.nonce).not.toBe(before.nonce);
    expect(after.authorizedPubkey.equals(user.keypair.publicKey)).toBe(true);
    await expect(connection.sendRawTransaction(bytes)).rejects.toThrow('Blockhash not found');
    await connection.sendRawTransaction(bytes, { skipPreflight: true });
    expect(chain.balance(friend.address) - held).toBe(5_000_000n);
    chain.advanceSlots(1);
    await connection.sendRawTransaction(durable(after.nonce, advance(), transfer(5_000_001)));
    expect(chain.balance(friend.address) - held).toBe(10_000_001n);
  });

  test('of version 0 lands too', async () => {
    const { nonce } = await stored();
    const bytes =
      signedTransaction({ chain, payer: user, instructions: [advance(), transfer(4_000_000)], blockhash: nonce });
    expect(landed(chain.land(bytes)).error).toBeNull();
    expect((await stored()).nonce).not.toBe(nonce);
  });

  test('that fails pays its fee and advances the nonce all the same', async () => {
    const { nonce } = await stored();
    const bytes = durable(nonce, advance(), transfer(2 ** 50));
    const held = chain.balance(user.address);
    const result = landed(chain.land(bytes));
    expect(result.error).toEqual({ InstructionError: [1, { Custom: 1 }] });
    expect(held - chain.balance(user.address)).toBe(5_000n);
    const after = await stored();
    expect(after.nonce).not.toBe(nonce);
    expect(after.feeCalculator).toEqual({ lamportsPerSignature: 5_000 });
    expect(chain.simulate(bytes).error).toBe('BlockhashNotFound');
    chain.advanceSlots(1);
    expect(landed(chain.land(durable(after.nonce, advance(), transfer(3_000_000)))).error).toBeNull();
  });

  test('that cannot load pays its fee and advances the nonce too', async () => {
    chain.advanceSlots(1);
    const { nonce } = await stored();
    const missing = new TransactionInstruction({ programId: Keypair.generate().publicKey, keys: [] });
    const held = chain.balance(user.address);
    expect(landed(chain.land(durable(nonce, advance(), missing))).error).toBe('ProgramAccountNotFound');
    expect(held - chain.balance(user.address)).toBe(5_000n);
    expect((await stored()).nonce).not.toBe(nonce);
    chain.advanceSlots(1);
  });

  test('is refused twice in a slot, before the nonce can advance again', async () => {
    landed(chain.land(durable((await stored()).nonce, advance(), transfer(3_100_000))));
    const second = durable((await stored()).nonce, advance(), transfer(3_200_000));
    expect(chain.land(second)).toMatchObject({ kind: 'rejected', error: 'BlockhashNotFound' });
    chain.advanceSlots(1);
    expect(chain.land(second)).toMatchObject({ kind: 'landed', error: null });
  });

  test.each([
    ['on a value that the account never had', async () =>
      durable(Keypair.generate().publicKey.toBase58(), advance(), transfer(1_000_000))],
    ['that advances after another instruction', async () =>
      durable((await stored()).nonce, transfer(1_000_000), advance())],
    ['of an account that is no nonce account', async () => durable((await stored()).nonce, SystemProgram.nonceAdvance(
      { noncePubkey: publicKey(friend.address), authorizedPubkey: user.keypair.publicKey },
    ), transfer(1_000_000))],
    ['that the authority does not sign', async () => {
      const { nonce } = await stored();
      const stranger = walletOf('stranger');
      chain.airdrop(stranger.address, 1_000_000_000n);
      const instruction = SystemProgram.nonceAdvance(
        { noncePubkey: nonceKey.publicKey, authorizedPubkey: stranger.keypair.publicKey },
      );
      const message = new TransactionMessage({
        payerKey: stranger.keypair.publicKey, recentBlockhash: nonce, instructions: [instruction],
      }).compileToV0Message();
      const transaction = new VersionedTransaction(message);
      transaction.sign([stranger.keypair]);
      return transaction.serialize();
    }],
    ['whose nonce account is read-only', async () => {
      const instruction = advance();
      instruction.keys[0]!.isWritable = false;
      return durable((await stored()).nonce, instruction, transfer(1_000_000));
    }],
  ])('is refused %s', async (_, make) => {
    const before = (await stored()).nonce;
    const bytes = await make();
    expect(chain.land(bytes)).toMatchObject({ kind: 'rejected', error: 'BlockhashNotFound' });
    expect(chain.simulate(bytes).error).toBe('BlockhashNotFound');
    expect((await stored()).nonce).toBe(before);
  });
});
