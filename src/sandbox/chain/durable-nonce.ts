import { hash } from 'node:crypto';
import { NONCE_ACCOUNT_LENGTH, NonceAccount } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Address } from './addresses.ts';
import { SYSTEM_PROGRAM } from './addresses.ts';
import type { DecodedMessage } from './transaction-bytes.ts';
import type { Account, Vm } from './vm.ts';

const ADVANCE_NONCE = 4;
const CURRENT_VERSION = 1;
const INITIALIZED = 1;
const VALUE_AT = 40;

/** Returns the value that a nonce account gets in the block that builds on that blockhash. */
function nonceValue(blockhash: string): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from('DURABLE_NONCE'), bs58.decode(blockhash)]), 'buffer');
}

/**
 * Returns the address of the nonce account that a message lives by, or undefined: its first instruction advances the
 * account, whose authority signs, and its blockhash is the account's value, which did not advance in this block yet.
 */
export function nonceAccountOf(
  vm: Vm, parentHash: string, { message, staticKeys, instructions }: DecodedMessage,
): Address | undefined {
  const [first] = instructions;
  if (first === undefined || staticKeys[first.programIdIndex] !== SYSTEM_PROGRAM) return undefined;
  if (first.data.length < 4 || Buffer.from(first.data).readUInt32LE(0) !== ADVANCE_NONCE) return undefined;
  const index = first.accountKeyIndexes[0];
  const address = index === undefined || !message.isAccountWritable(index) ? undefined : staticKeys[index];
  const state = address === undefined ? undefined : readNonce(vm.account(address));
  if (state?.nonce !== message.recentBlockhash) return undefined;
  if (nonceValue(parentHash).equals(bs58.decode(state.nonce))) return undefined;
  const authority = state.authorizedPubkey.toBase58();
  const isAuthorized = first.accountKeyIndexes
    .some((signer) => message.isAccountSigner(signer) && staticKeys[signer] === authority);
  return isAuthorized ? address : undefined;
}

function readNonce(account: Account | undefined): NonceAccount | undefined {
  if (account?.owner !== SYSTEM_PROGRAM || account.data.length !== NONCE_ACCOUNT_LENGTH) return undefined;
  const data = Buffer.from(account.data);
  return data.readUInt32LE(0) === CURRENT_VERSION && data.readUInt32LE(4) === INITIALIZED
    ? NonceAccount.fromAccountData(data) : undefined;
}

/**
 * Writes the next value of a nonce account after a transaction that lived by it. A failed one advances it too, though
 * the VM takes everything back; and a value of the VM comes from the one before instead of a blockhash.
 */
export function advanceNonce(vm: Vm, parentHash: string, address: Address): void {
  const account = vm.account(address);
  if (account === undefined || readNonce(account) === undefined) return;
  const data = Buffer.from(account.data);
  nonceValue(parentHash).copy(data, VALUE_AT);
  const { lamports, owner, executable } = account;
  vm.setAccount(address, { lamports, owner, executable, data });
}
