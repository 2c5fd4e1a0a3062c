import { createRequire } from 'node:module';
import { GannetError } from '../../core/errors.ts';

// Pinned exactly: older releases abort the process within a few transactions, and these classes are no promised
// interface.
const PACKAGE_VERSION = '1.4.1';
/** What the names of the native package end with on this system: on Linux one of the two, which npm chooses. */
const LIBRARIES = process.platform === 'linux' ? ['-gnu', '-musl'] : [''];

/**
 * Returns the native side; `import` of an add-on warns, so it is required. Throws PLATFORM_UNSUPPORTED, naming the
 * package to add, where none is installed that loads: all other features still work.
 */
export function loadNative(load: (name: string) => unknown = createRequire(import.meta.url)): Native {
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

export interface NativeAccount {
  lamports(): bigint;
  owner(): Uint8Array;
  executable(): boolean;
  data(): Uint8Array;
}

export interface NativeInnerInstruction {
  instruction(): { programIdIndex(): number; accounts(): Uint8Array; data(): Uint8Array };
  stackHeight(): number;
}

export interface NativeMetadata {
  logs(): string[];
  computeUnitsConsumed(): bigint;
  innerInstructions(): NativeInnerInstruction[][];
  returnData(): { programId(): Uint8Array; data(): Uint8Array };
}

export interface NativeFailure {
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

interface NativeEpochSchedule {
  warmup: boolean;
  firstNormalEpoch: bigint;
  firstNormalSlot: bigint;
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
  getEpochSchedule(): NativeEpochSchedule;
  setEpochSchedule(schedule: NativeEpochSchedule): void;
  setSlotHashes(hashes: { slot: bigint; hash: string }[]): void;
}

interface Native {
  LiteSvm: new () => NativeVm;
  Account: new (
    lamports: bigint, data: Uint8Array, owner: Uint8Array, executable: boolean, rentEpoch: bigint,
  ) => NativeAccount;
  FailedTransactionMetadata: new () => NativeFailure;
}
