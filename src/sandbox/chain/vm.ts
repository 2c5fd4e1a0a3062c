import type { Address } from './addresses.ts';
import { addressBytes, addressOf } from './addresses.ts';
import type { NativeAccount, NativeFailure, NativeInnerInstruction, NativeMetadata } from './native-vm.ts';
import { loadNative } from './native-vm.ts';
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
  // As on the main network, whose epochs had their full length from the start.
  const schedule = vm.getEpochSchedule();
  schedule.warmup = false;
  schedule.firstNormalEpoch = 0n;
  schedule.firstNormalSlot = 0n;
  vm.setEpochSchedule(schedule);

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
