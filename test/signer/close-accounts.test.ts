import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair, type Duplex } from 'node:stream';
import { createApproveInstruction, createCloseAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import type { TransactionInstruction } from '@solana/web3.js';
import {
  ComputeBudgetProgram, Keypair, SystemProgram, TransactionMessage, VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createAuthoriser } from '../../src/signer/authorise.ts';
import { createSignerClient, type SignerClient } from '../../src/signer/channel/client.ts';
import { swapPrograms } from '../../src/signer/policy/swap-programs.ts';
import { serveSigner } from '../../src/signer/channel/server.ts';
import type { CapSetting } from '../../src/signer/settings.ts';
import { createWallet } from '../../src/signer/wallet.ts';
import { COUNTERS_KEY, daemonFrames, SESSION_KEY, signerAnswers } from './session.ts';
import { guardedBy } from './quote-server.ts';

const keyOf = (byte: number): Keypair => Keypair.fromSeed(new Uint8Array(32).fill(byte));
const OWNER = keyOf(1);
const WALLET = OWNER.publicKey;
const ACCOUNT = keyOf(2).publicKey;
const THIEF = keyOf(4).publicKey;
const CLOSE = createCloseAccountInstruction(ACCOUNT, WALLET, WALLET);

let stateDir: string;
beforeEach(() => { stateDir = mkdtempSync(join(tmpdir(), 'close-accounts-')); });
afterEach(() => { rmSync(stateDir, { recursive: true }); });

/**
 * One end of a channel whose other end is a signer with its real rules; whether a process waits for it is no question
 * here.
 */
async function openSigner(
  options: { readonly caps?: readonly CapSetting[] } = {},
): Promise<{ readonly client: SignerClient; readonly channel: Duplex }> {
  const channel = startSigner(options);
  const client = createSignerClient(
    Object.assign(channel, { ref: () => undefined, unref: () => undefined }), SESSION_KEY,
  );
  await client.describe();
  return { client, channel };
}

function startSigner({ caps = [] }: { readonly caps?: readonly CapSetting[] } = {}): Duplex {
  const [signer, daemon] = duplexPair();
  const settings = {
    keyFrom: 'env:MINE', address: undefined, embedded: false, rpcUrl: undefined, countersDir: stateDir,
    acceptNewCounters: true, programs: swapPrograms(), destinations: [], caps, tokens: new Map(),
    priceGuard: guardedBy('http://127.0.0.1:1'),
  };
  const wallet = createWallet({
    environment: { MINE: bs58.encode(OWNER.secretKey) }, pid: 7, warn: () => undefined,
    load: async () => ({ settings, authoriserFor: ({ address, countersKey }) =>
      createAuthoriser({ wallet: address, countersKey, settings, clock: { now: () => 1_700_000_000_000 } }) }),
  });
  serveSigner({ channel: signer, sessionKey: SESSION_KEY, wallet, onFault: () => undefined });
  onTestFinished(() => { wallet.close(); });
  return daemon;
}

let hashes = 20;

function transaction(instructions: readonly TransactionInstruction[], payer = WALLET): Uint8Array {
  hashes += 1;
  const message = new TransactionMessage({
    payerKey: payer, recentBlockhash: keyOf(hashes).publicKey.toBase58(), instructions: [...instructions],
  });
  return new VersionedTransaction(message.compileToV0Message()).serialize();
}

/** It pays 905,000 lamports. */
const priced = (): Uint8Array => transaction([
  ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 900_000 }), CLOSE,
]);

describe('a request to close accounts', () => {
  test('is refused by a signer that only judges, also where nothing is counted', async () => {
    const settings = {
      keyFrom: undefined, embedded: true, rpcUrl: undefined, countersDir: stateDir, acceptNewCounters: true,
      programs: swapPrograms(), destinations: [], caps: [], tokens: new Map(),
      priceGuard: guardedBy('http://127.0.0.1:1'),
    };
    const judge =
      await createAuthoriser({ wallet: WALLET.toBase58(), countersKey: COUNTERS_KEY, settings, onlyJudges: true });
    onTestFinished(() => judge.close());
    expect(await judge.authoriseClosing(transaction([CLOSE]))).toMatchObject({ allowed: false, code: 'ONLY_JUDGES' });
  });

  test('is signed with the wallet’s key', async () => {
    const { client } = await openSigner();
    const bytes = transaction([ComputeBudgetProgram.setComputeUnitLimit({ units: 9_000 }), CLOSE]);
    const signed = await client.closeAccounts(bytes);
    const expected = VersionedTransaction.deserialize(bytes);
    expected.sign([OWNER]);
    expect(Buffer.compare(signed.transaction, expected.serialize())).toBe(0);
    expect(signed).toMatchObject({ signature: bs58.encode(expected.signatures[0]!), transactionId: signed.signature });
  });

  test.each<[string, readonly TransactionInstruction[], string]>([
    [
      'a transfer of tokens hides beside the close',
      [CLOSE, createTransferInstruction(keyOf(3).publicKey, THIEF, WALLET, 1n)], 'CLOSING_ONLY',
    ],
    [
      'a transfer of SOL hides beside the close',
      [CLOSE, SystemProgram.transfer({ fromPubkey: WALLET, toPubkey: THIEF, lamports: 1 })], 'CLOSING_ONLY',
    ],
    [
      'an approval hides beside the close', [CLOSE, createApproveInstruction(keyOf(3).publicKey, THIEF, WALLET, 1n)],
      'APPROVAL_FORBIDDEN',
    ],
    ['the deposit goes elsewhere', [createCloseAccountInstruction(ACCOUNT, THIEF, WALLET)], 'CLOSE_DESTINATION'],
    ['nothing is closed', [ComputeBudgetProgram.setComputeUnitLimit({ units: 9_000 })], 'CLOSING_ONLY'],
  ])('is refused where %s, and nothing is signed', async (_where, instructions, code) => {
    const { client, channel } = await openSigner();
    let answered = '';
    channel.on('data', (bytes: Buffer) => { answered += bytes.toString('latin1'); });
    await expect(client.closeAccounts(transaction(instructions)))
      .rejects.toMatchObject({ code: 'SIGN_REFUSED', details: { code } });
    expect(answered).toContain(code);
    expect(answered).not.toContain('messageHash');
  });

  test('is refused for other transactions, and with terms', async () => {
    const { client } = await openSigner();
    await expect(client.closeAccounts(new Uint8Array(200).fill(1))).rejects.toMatchObject({ code: 'SIGN_REFUSED' });
    const channel = startSigner();
    const answers: unknown[] = [];
    channel.on('data', signerAnswers((answer) => { answers.push(answer); }));
    channel.write(daemonFrames(
      { id: 899, kind: 'describe' },
      { id: 900, kind: 'close-accounts', transaction: Buffer.from(transaction([CLOSE])).toString('base64'), terms: {} },
    ));
    await expect.poll(() => answers)
      .toEqual(expect.arrayContaining([expect.objectContaining({
        id: 900, refused: expect.objectContaining({ code: 'SIGN_REFUSED' }) as object,
      })]));
  });

  test('counts its fee against the cap on costs, the same bytes once', async () => {
    const { client } = await openSigner({
      caps: [{ mint: 'So11111111111111111111111111111111111111112', name: 'SOL', perDay: '0.002' }],
    });
    const first = priced();
    await client.closeAccounts(first);
    await client.closeAccounts(first);
    await client.closeAccounts(priced());
    await expect(client.closeAccounts(priced()))
      .rejects.toMatchObject({ code: 'SIGN_REFUSED', details: { code: 'CAP_EXCEEDED_DAY' } });
  });
});
