import type { Address } from './addresses.ts';
import { COMPUTE_BUDGET_PROGRAM, addressOf } from './addresses.ts';
import type { DecodedMessage } from './transaction-bytes.ts';
import type { Account, Vm } from './vm.ts';

const UPGRADEABLE_LOADER: Address = 'BPFLoaderUpgradeab1e11111111111111111111111';
/** The VM makes it for each transaction, so it is not loaded. */
const INSTRUCTIONS_SYSVAR: Address = 'Sysvar1nstructions1111111111111111111111111';
const PROGRAM_STATE = 2;
const PROGRAM_BYTES = 36;
const ACCOUNT_OVERHEAD_BYTES = 64;
const LOOKUP_TABLE_COST_BYTES = 8_248;
const MAX_LOADED_BYTES = 64 * 1024 * 1024;
const SET_LOADED_DATA_LIMIT = 4;

interface LoadedDataOptions {
  readonly vm: Vm;
  readonly decoded: DecodedMessage;
  readonly accountKeys: readonly Address[];
  /** Those that exist, as they were before the transaction. */
  readonly accounts: ReadonlyMap<Address, Account>;
}

/**
 * Returns the bytes that a transaction loads, as its limit on them counts (SIMD-0186): the data of its accounts and of
 * the code behind its programs, 64 bytes for each of them, and a flat cost for each lookup table.
 */
export function loadedDataSize({ vm, decoded: { message }, accountKeys, accounts }: LoadedDataOptions): number {
  const counted = new Set(accountKeys);
  let size = LOOKUP_TABLE_COST_BYTES * message.addressTableLookups.length;
  for (const key of accountKeys) {
    const account = accounts.get(key);
    if (account === undefined || key === INSTRUCTIONS_SYSVAR) continue;
    size += sizeOf(account);
    const code = codeAddress(account);
    if (code === undefined || counted.has(code)) continue;
    counted.add(code);
    size += codeSize(vm, account, code);
  }
  return size;
}

/** Returns the limit on loaded data that a message sets itself, at most 64 MiB. */
export function loadedDataLimit({ message, staticKeys, instructions }: DecodedMessage): number {
  if (message.version === 1)
    return Math.min(message.transactionConfig.loadedAccountsDataSizeLimit ?? 0, MAX_LOADED_BYTES);
  const setter = instructions.find(({ programIdIndex, data }) =>
    staticKeys[programIdIndex] === COMPUTE_BUDGET_PROGRAM && data[0] === SET_LOADED_DATA_LIMIT && data.length >= 5);
  return setter === undefined ? MAX_LOADED_BYTES
    : Math.min(Buffer.from(setter.data).readUInt32LE(1), MAX_LOADED_BYTES);
}

function sizeOf({ data }: Account): number {
  return data.length + ACCOUNT_OVERHEAD_BYTES;
}

function codeAddress({ owner, data }: Account): Address | undefined {
  if (owner !== UPGRADEABLE_LOADER || data.length < PROGRAM_BYTES) return undefined;
  return Buffer.from(data).readUInt32LE(0) === PROGRAM_STATE ? addressOf(data.subarray(4, PROGRAM_BYTES)) : undefined;
}

// Asking for the size of code copies all of it. A program that is upgraded is read again, as another object.
const codeSizes = new WeakMap<Account, number>();

function codeSize(vm: Vm, program: Account, address: Address): number {
  const known = codeSizes.get(program);
  if (known !== undefined) return known;
  const code = vm.account(address);
  const size = code === undefined ? 0 : sizeOf(code);
  codeSizes.set(program, size);
  return size;
}
