import { addressOf } from '../chain/addresses.ts';
import type { Address } from '../chain/addresses.ts';
import { exactNumber } from '../json-text.ts';
import type { ParsedContent } from './parsed-token.ts';

const KEY_BYTES = 32;
const WORD_BITS = 64;

/** Reads the fields of a sysvar in order. Throws RangeError where there are none left. */
interface Fields {
  u64(): number | bigint;
  i64(): number | bigint;
  /** Numbers that may exceed a double are texts. */
  text(bytes: 8 | 16): string;
  f64(): number;
  flag(): boolean;
  hash(): string;
  /** Returns as many items as the count in front of them says. */
  list<Item>(read: () => Item): Item[];
}

/** The type of each sysvar and how its content is read, by its address. */
const SYSVARS: Readonly<Record<Address, readonly [type: string, read: (fields: Fields) => unknown]>> = {
  SysvarC1ock11111111111111111111111111111111: ['clock', (f) => ({
    slot: f.u64(), epochStartTimestamp: f.i64(), epoch: f.u64(), leaderScheduleEpoch: f.u64(), unixTimestamp: f.i64(),
  })],
  SysvarEpochSchedu1e111111111111111111111111: ['epochSchedule', (f) => ({
    slotsPerEpoch: f.u64(), leaderScheduleSlotOffset: f.u64(), warmup: f.flag(), firstNormalEpoch: f.u64(),
    firstNormalSlot: f.u64(),
  })],
  SysvarFees111111111111111111111111111111111: ['fees', (f) =>
    ({ feeCalculator: { lamportsPerSignature: f.text(8) } })],
  SysvarRecentB1ockHashes11111111111111111111: ['recentBlockhashes', (f) => f.list(() =>
    ({ blockhash: f.hash(), feeCalculator: { lamportsPerSignature: f.text(8) } }))],
  // Nodes from version 4.1 on show one number: the rent of a byte, the time that it is paid for included.
  SysvarRent111111111111111111111111111111111: ['rent', (f) =>
    ({ lamportsPerByte: String(Number(f.u64()) * f.f64()) })],
  SysvarS1otHashes111111111111111111111111111: ['slotHashes', (f) =>
    f.list(() => ({ slot: f.u64(), hash: f.hash() }))],
  SysvarS1otHistory11111111111111111111111111: ['slotHistory', (f) => {
    const bits = f.flag() ? f.list(() => reversed(BigInt(f.u64()))) : [];
    f.u64();
    return { nextSlot: f.u64(), bits: bits.join('') };
  }],
  SysvarStakeHistory1111111111111111111111111: ['stakeHistory', (f) => f.list(() => ({
    epoch: f.u64(), stakeHistory: { effective: f.u64(), activating: f.u64(), deactivating: f.u64() },
  }))],
  SysvarLastRestartS1ot1111111111111111111111: ['lastRestartSlot', (f) => ({ lastRestartSlot: f.u64() })],
  SysvarEpochRewards1111111111111111111111111: ['epochRewards', (f) => ({
    distributionStartingBlockHeight: f.u64(), numPartitions: f.u64(), parentBlockhash: f.hash(),
    totalPoints: f.text(16), totalRewards: f.text(8), distributedRewards: f.text(8), active: f.flag(),
  })],
};

/** Returns the content of a sysvar, or undefined for one that nodes do not parse. */
export function parseSysvar(address: Address, bytes: Buffer): ParsedContent | undefined {
  const [type, read] = SYSVARS[address] ?? [];
  if (type === undefined || read === undefined) return undefined;
  try {
    return { type, info: read(fieldsOf(bytes)) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fieldsOf(bytes: Buffer): Fields {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the sysvar ends too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const fields: Fields = {
    u64: () => exactNumber(take(8).readBigUInt64LE(0)),
    i64: () => exactNumber(take(8).readBigInt64LE(0)),
    text: (length) => {
      const low = take(8).readBigUInt64LE(0);
      return String(length === 8 ? low : low + (take(8).readBigUInt64LE(0) << 64n));
    },
    f64: () => take(8).readDoubleLE(0),
    flag: () => take(1)[0] === 1,
    hash: () => addressOf(take(KEY_BYTES)),
    list: (read) => {
      const count = take(8).readBigUInt64LE(0);
      // An item takes at least one byte.
      if (count > BigInt(bytes.length)) throw new RangeError('the sysvar counts more items than it holds');
      return Array.from({ length: Number(count) }, read);
    },
  };
  return fields;
}

/** The lowest bit is the first slot. */
function reversed(word: bigint): string {
  return word.toString(2).padStart(WORD_BITS, '0').split('').reverse().join('');
}
