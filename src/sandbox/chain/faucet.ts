import { createPrivateKey, hash, sign } from 'node:crypto';
import {
  Keypair, SystemProgram, TransactionInstruction, TransactionMessage, VersionedTransaction,
} from '@solana/web3.js';
import { GannetError } from '../../core/errors.ts';
import type { Accounts } from './accounts.ts';
import { MEMO_PROGRAM, publicKey } from './addresses.ts';
import type { Address } from './addresses.ts';
import type { LandResult } from './landing.ts';

const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
// Lamports beyond 2^53 are not exact in the clients' doubles.
const FULL = 2n ** 52n;

export interface FaucetOptions {
  accounts: Accounts;
  land: (bytes: Uint8Array) => LandResult;
  blockhash: () => string;
  seed: number | string;
}

/** Returns a function that pays lamports by a real transaction and returns its signature, as an airdrop does. */
export function createFaucet(options: FaucetOptions): (owner: Address, lamports: bigint) => string {
  const { accounts } = options;
  const keypair = Keypair.fromSeed(hash('sha256', `gannet faucet ${options.seed}`, 'buffer'));
  const address = keypair.publicKey.toBase58();
  const key = createPrivateKey({
    format: 'der', type: 'pkcs8', key: Buffer.concat([PKCS8_ED25519_PREFIX, keypair.secretKey.subarray(0, 32)]),
  });
  let payments = 0;

  return (owner, lamports) => {
    if (lamports <= 0n || lamports > FULL)
      throw new GannetError('AMOUNT_INVALID', `expected an airdrop of 1 to ${FULL} lamports, got ${lamports}`);
    accounts.setBalance(address, 2n * FULL);
    // The number makes two equal payments in one slot two different transactions.
    payments += 1;
    const memo = new TransactionInstruction({
      programId: publicKey(MEMO_PROGRAM), keys: [], data: Buffer.from(`airdrop ${payments}`),
    });
    const transfer = SystemProgram.transfer({ fromPubkey: keypair.publicKey, toPubkey: publicKey(owner), lamports });
    const message = new TransactionMessage({
      payerKey: keypair.publicKey,
      recentBlockhash: options.blockhash(),
      instructions: [transfer, memo],
    }).compileToV0Message();
    const signature = sign(null, Buffer.from(message.serialize()), key);
    const result = options.land(new VersionedTransaction(message, [signature]).serialize());
    if (result.kind === 'rejected' || result.error !== null) {
      throw new GannetError(
        'SANDBOX_FAILED', `expected an airdrop to ${owner} to land, got ${JSON.stringify(result.error)}`,
        { details: { owner, lamports } },
      );
    }
    return result.signature;
  };
}
