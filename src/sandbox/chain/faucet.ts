import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import type { VersionedMessage } from '@solana/web3.js';
import { MessageV1 } from '@solana/web3.js';
import { GannetError } from '../../core/errors.ts';
import type { Accounts } from './accounts.ts';
import type { Address } from './addresses.ts';
import { LOOKUP_TABLE_PROGRAM, MEMO_PROGRAM, SYSTEM_PROGRAM, addressOf } from './addresses.ts';
import type { LandResult } from './landing.ts';
import type { Instruction } from './message.ts';
import { lookupTable, messageFor } from './message.ts';
import { serializeMessage } from './transaction-bytes.ts';

/** The versions that the faucet's transactions can have; no client knows the last one yet. */
export const PAYMENT_VERSIONS = ['legacy', 0, 1, 2] as const;
export type PaymentVersion = (typeof PAYMENT_VERSIONS)[number];

/** An account with enough SOL for every payment. */
export interface Faucet {
  readonly address: Address;
  /** Lands a transaction that the faucet pays for and signs, and returns its signature. Throws SANDBOX_FAILED. */
  send: (instructions: readonly Instruction[], version: PaymentVersion) => string;
  /** Pays lamports and returns the signature. Throws AMOUNT_INVALID and SANDBOX_FAILED. */
  airdrop: (owner: Address, lamports: bigint, version?: PaymentVersion) => string;
}

interface FaucetOptions {
  accounts: Accounts;
  land: (bytes: Uint8Array, shownAs?: number) => LandResult;
  blockhash: () => string;
  seed: number | string;
}

const SYSTEM_TRANSFER = 2;
const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
// Lamports beyond 2^53 are not exact in the clients' doubles.
const FULL = 2n ** 52n;
/** What a payment of version 1 may use: limits that it does not name are zero. */
const PAYMENT_CONFIG =
  { priorityFee: null, computeUnitLimit: 200_000, loadedAccountsDataSizeLimit: 67_108_864, heapSize: null };

/** Returns the faucet of a seed: the same key each time. */
export function createFaucet({ accounts, land, blockhash, seed }: FaucetOptions): Faucet {
  const secret = hash('sha256', `gannet faucet ${seed}`, 'buffer');
  const key = createPrivateKey({ format: 'der', type: 'pkcs8', key: Buffer.concat([PKCS8_ED25519_PREFIX, secret]) });
  const address = addressOf(createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32));
  let payments = 0;

  function send(instructions: readonly Instruction[], version: PaymentVersion): string {
    accounts.setBalance(address, 2n * FULL);
    // The number makes two equal payments in one slot two different transactions.
    payments += 1;
    const memo = { programId: MEMO_PROGRAM, accounts: [], data: Buffer.from(`airdrop ${payments}`) };
    const message = messageFor({
      payer: address, instructions: [...instructions, memo], blockhash: blockhash(),
      // With a table, the message is of version 0.
      table: version === 0 ? lookupTable(LOOKUP_TABLE_PROGRAM, []) : undefined,
    });
    const result = version === 'legacy' || version === 0 ? land(signed(serializeMessage(message), 'first'))
      // Of a later version there is no format yet, so its transactions run as version 1.
      : land(signed(serializeMessage(asVersion1(message)), 'last'), version);
    if (result.kind === 'landed' && result.error === null) return result.signature;
    throw new GannetError(
      'SANDBOX_FAILED', `expected a payment of the faucet to land, got ${JSON.stringify(result.error)}`,
      { details: { version, logs: result.kind === 'landed' ? result.logs.join('\n') : '' } },
    );
  }

  function signed(message: Uint8Array, place: 'first' | 'last'): Buffer {
    const signature = sign(null, message, key);
    return Buffer.concat(place === 'last' ? [message, signature] : [Buffer.of(1), signature, message]);
  }

  return {
    address,
    send,
    airdrop: (owner, lamports, version = 0) => {
      if (lamports <= 0n || lamports > FULL)
        throw new GannetError('AMOUNT_INVALID', `expected an airdrop of 1 to ${FULL} lamports, got ${lamports}`);
      const data = Buffer.alloc(12);
      data.writeUInt32LE(SYSTEM_TRANSFER, 0);
      data.writeBigUInt64LE(lamports, 4);
      const transfer = {
        programId: SYSTEM_PROGRAM, data,
        accounts: [
          { pubkey: address, isSigner: true, isWritable: true }, { pubkey: owner, isSigner: false, isWritable: true },
        ],
      };
      return send([transfer], version);
    },
  };
}

function asVersion1({ header, staticAccountKeys, recentBlockhash, compiledInstructions }: VersionedMessage): MessageV1 {
  return new MessageV1({
    header, staticAccountKeys, recentBlockhash, compiledInstructions, transactionConfig: PAYMENT_CONFIG,
  });
}
