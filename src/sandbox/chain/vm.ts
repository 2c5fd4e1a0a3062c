import { createRequire } from 'node:module';
import { GannetError } from '../../core/errors.ts';
import type { Address } from './addresses.ts';
import { addressBytes, addressOf } from './addresses.ts';
import type { DecodedTransaction } from './transaction-bytes.ts';
import type { TransactionError } from './transaction-error.ts';
import { transactionErrorOf } from './transaction-error.ts';

/** An account as the VM holds it; `data` is copied out of the VM when it is first asked for. */
export interface Account {
  readonly lamports: bigint;
  readonly owner: Address;
  readonly executable: boolean;
  readonly data: Uint8Array;
}

export interface InnerInstruction {
  programIdIndex: number;
  accountIndexes: Uint8Array;
  data: Uint8Array;
  stackHeight: number;
}

export interface Execution {
  error: TransactionError | null;
  logs: readonly string[];
  unitsConsumed: number;
  returnData: { programId: Address; data: Uint8Array } | null;
  /** Calls from program to program, one list per top-level instruction. */
  innerInstructions: readonly (readonly InnerInstruction[])[];
}

export interface SimulatedExecution extends Execution {
  /** The writable accounts as they would be; empty when the simulation failed. */
  accountsAfter: ReadonlyMap<Address, Account>;
}

export interface Vm {
  send: (transaction: DecodedTransaction) => Execution;
  simulate: (transaction: DecodedTransaction, options: { sigVerify: boolean }) => SimulatedExecution;
  account: (address: Address) => Account | undefined;
  setAccount: (address: Address, account: Account) => void;
  programAccounts: (program: Address) => ReadonlyMap<Address, Account>;
  addProgram: (address: Address, elf: Uint8Array) => void;
  rentExemption: (bytes: number) => bigint;
  /** Sets what programs read of the chain's time; it is asked for when a program or an account is. */
  setTime: (time: () => ChainTime) => void;
}

/** The chain's clock and its newest blocks. */
interface ChainTime {
  readonly slot: number;
  readonly unixSeconds: number;
  readonly epoch: number;
  readonly newestFirst: readonly { readonly slot: number; readonly blockhash: string }[];
}

// Pinned exactly: older releases abort the process within a few transactions, and these classes are no promised
// interface.
const PACKAGE_VERSION = '1.4.1';
const RENT_EPOCH_EXEMPT = 2n ** 64n - 1n;
/** Accounts of the VM's own time begin so. */
const SYSVAR = 'Sysvar';
/** More accounts than a market has; each is read again after a transaction. */
const KNOWN_MAX = 10_000;

/**
 * Returns a Solana VM with the token, associated-token, lookup-table and memo programs and the mint of wrapped SOL.
 * Only decoded transactions and addresses reach the VM, because the native side aborts the whole process on bytes it
 * cannot read. Throws PLATFORM_UNSUPPORTED where the native package is not installed.
 */
export function createVm(load?: (name: string) => unknown): Vm {
  const native = loadNative(load);
  const vm = new native.LiteSvm();
  vm.withNativeMints();
  // The VM knows one blockhash and 32 signatures; the chain keeps the window of 150 blocks and the history itself.
  vm.setBlockhashCheck(false);
  vm.setTransactionHistory(0n);

  // The market reads and writes its pools at every step, and a read costs more than all else of a step.
  // What is written reaches the VM when a program or a list of accounts is asked for.
  const known = new Map<Address, Account | undefined>();
  const written = new Map<Address, Account>();
  let dueTime: (() => ChainTime) | undefined;

  function settle(): void {
    for (const [address, { lamports, data, owner, executable }] of written) {
      vm.setAccount(
        addressBytes(address), new native.Account(lamports, data, addressBytes(owner), executable, RENT_EPOCH_EXEMPT),
      );
    }
    written.clear();
    if (dueTime === undefined) return;
    const { slot, unixSeconds, epoch, newestFirst } = dueTime();
    dueTime = undefined;
    const clock = vm.getClock();
    clock.slot = BigInt(slot);
    clock.unixTimestamp = BigInt(unixSeconds);
    clock.epoch = BigInt(epoch);
    vm.setClock(clock);
    vm.setSlotHashes(newestFirst.map(({ slot: at, blockhash }) => ({ slot: BigInt(at), hash: blockhash })));
  }

  function readAccount(address: Address): Account | undefined {
    const found = vm.getAccount(addressBytes(address));
    // An account without lamports no longer exists, although the VM may still hold its record.
    return found && found.lamports() > 0n ? accountOf(found) : undefined;
  }

  function executionOf(result: NativeMetadata | NativeFailure): Execution {
    const failure = result instanceof native.FailedTransactionMetadata ? result : undefined;
    const metadata = failure?.meta() ?? (result as NativeMetadata);
    const returned = metadata.returnData();
    const returnedBytes = returned.data();
    return {
      error: failure ? transactionErrorOf(failure.err()) : null,
      logs: metadata.logs(),
      unitsConsumed: Number(metadata.computeUnitsConsumed()),
      returnData: returnedBytes.length === 0 ? null
        : { programId: addressOf(returned.programId()), data: returnedBytes },
      innerInstructions: metadata.innerInstructions().map((calls) => calls.map(innerInstructionOf)),
    };
  }

  function simulate(transaction: DecodedTransaction, options: { sigVerify: boolean }): SimulatedExecution {
    settle();
    if (!options.sigVerify) vm.setSigverify(false);
    try {
      const result = vm.simulateVersionedTransaction(transaction.bytes);
      if (result instanceof native.FailedTransactionMetadata)
        return { ...executionOf(result), accountsAfter: new Map() };
      const after = result.postAccounts()
        .map((entry) => [addressOf(entry.address), accountOf(entry.account())] as const);
      return { ...executionOf(result.meta()), accountsAfter: new Map(after) };
    } finally {
      vm.setSigverify(true);
    }
  }

  return {
    send: (transaction) => {
      settle();
      known.clear();
      return executionOf(vm.sendVersionedTransaction(transaction.bytes));
    },
    simulate,
    account: (address) => {
      if (address.startsWith(SYSVAR)) {
        settle();
        return readAccount(address);
      }
      if (known.has(address)) return known.get(address);
      if (known.size >= KNOWN_MAX) {
        settle();
        known.clear();
      }
      const account = readAccount(address);
      known.set(address, account);
      return account;
    },
    setAccount: (address, account) => {
      known.set(address, account.lamports > 0n ? account : undefined);
      written.set(address, account);
    },
    programAccounts: (program) => {
      settle();
      return new Map(vm.getProgramAccounts(addressBytes(program)).map((entry) =>
        [addressOf(entry.address), accountOf(entry.account())]));
    },
    addProgram: (address, elf) => {
      settle();
      known.delete(address);
      vm.addProgram(addressBytes(address), elf);
    },
    rentExemption: (bytes) => vm.minimumBalanceForRentExemption(BigInt(bytes)),
    setTime: (time) => { dueTime = time; },
  };
}

function accountOf(source: NativeAccount): Account {
  let data: Uint8Array | undefined;
  return {
    lamports: source.lamports(),
    owner: addressOf(source.owner()),
    executable: source.executable(),
    get data() {
      return (data ??= source.data());
    },
  };
}

function innerInstructionOf(call: NativeInnerInstruction): InnerInstruction {
  const instruction = call.instruction();
  return {
    programIdIndex: instruction.programIdIndex(),
    accountIndexes: instruction.accounts(),
    data: instruction.data(),
    stackHeight: call.stackHeight(),
  };
}

/** What the names of the native package end with on this system: on Linux one of the two, which npm chooses. */
const LIBRARIES = process.platform === 'linux' ? ['-gnu', '-musl'] : [''];

/**
 * Returns the native side; `import` of an add-on warns, so it is required. Throws PLATFORM_UNSUPPORTED, naming the
 * package to add, where none is installed that loads: all other features still work.
 */
function loadNative(load: (name: string) => unknown = createRequire(import.meta.url)): Native {
  const base = `litesvm-${process.platform}-${process.arch}`;
  const causes: unknown[] = [];
  for (const library of LIBRARIES) {
    try {
      return load(`${base}${library}`) as Native;
    } catch (cause) {
      causes.push(cause);
    }
  }
  const name = `${base}${process.platform === 'linux' && !hasGlibc() ? '-musl' : LIBRARIES[0]}`;
  throw new GannetError(
    'PLATFORM_UNSUPPORTED',
    `expected the package ${name} for the embedded chain, found none that loads; ` +
      `add it with "npm install --save-optional --save-exact ${name}@${PACKAGE_VERSION}", or run the sandbox on Linux `
        + 'or macOS, on x64 or arm64',
    { details: { platform: process.platform, arch: process.arch, package: name }, cause: new AggregateError(causes) },
  );
}

function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime !== undefined;
}

interface NativeAccount {
  lamports(): bigint;
  owner(): Uint8Array;
  executable(): boolean;
  data(): Uint8Array;
}

interface NativeInnerInstruction {
  instruction(): { programIdIndex(): number; accounts(): Uint8Array; data(): Uint8Array };
  stackHeight(): number;
}

interface NativeMetadata {
  logs(): string[];
  computeUnitsConsumed(): bigint;
  innerInstructions(): NativeInnerInstruction[][];
  returnData(): { programId(): Uint8Array; data(): Uint8Array };
}

interface NativeFailure {
  err(): unknown;
  meta(): NativeMetadata;
}

interface NativeAddressAndAccount {
  address: Uint8Array;
  account(): NativeAccount;
}

interface NativeClock {
  slot: bigint;
  unixTimestamp: bigint;
  epoch: bigint;
}

interface NativeVm {
  withNativeMints(): void;
  setBlockhashCheck(on: boolean): void;
  setTransactionHistory(capacity: bigint): void;
  setSigverify(on: boolean): void;
  sendVersionedTransaction(bytes: Uint8Array): NativeMetadata | NativeFailure;
  simulateVersionedTransaction(
    bytes: Uint8Array,
  ): { meta(): NativeMetadata; postAccounts(): NativeAddressAndAccount[] } | NativeFailure;
  getAccount(address: Uint8Array): NativeAccount | null;
  setAccount(address: Uint8Array, account: NativeAccount): void;
  getProgramAccounts(program: Uint8Array): NativeAddressAndAccount[];
  addProgram(address: Uint8Array, elf: Uint8Array): void;
  minimumBalanceForRentExemption(bytes: bigint): bigint;
  getClock(): NativeClock;
  setClock(clock: NativeClock): void;
  setSlotHashes(hashes: { slot: bigint; hash: string }[]): void;
}

interface Native {
  LiteSvm: new () => NativeVm;
  Account: new (
    lamports: bigint, data: Uint8Array, owner: Uint8Array, executable: boolean, rentEpoch: bigint,
  ) => NativeAccount;
  FailedTransactionMetadata: new () => NativeFailure;
}
