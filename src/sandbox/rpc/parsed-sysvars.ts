import type { Address } from '../chain/addresses.ts';
import type { Fields } from './byte-fields.ts';
import { fieldsOf } from './byte-fields.ts';
import type { ParsedContent } from './parsed-token.ts';

const WORD_BITS = 64;

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
    ({ feeCalculator: { lamportsPerSignature: f.amount() } })],
  SysvarRecentB1ockHashes11111111111111111111: ['recentBlockhashes', (f) => f.list(() =>
    ({ blockhash: f.key(), feeCalculator: { lamportsPerSignature: f.amount() } }))],
  // Nodes from version 4.1 on show one number: the rent of a byte, the time that it is paid for included.
  SysvarRent111111111111111111111111111111111: ['rent', (f) =>
    ({ lamportsPerByte: String(Number(f.u64()) * f.f64()) })],
  SysvarS1otHashes111111111111111111111111111: ['slotHashes', (f) =>
    f.list(() => ({ slot: f.u64(), hash: f.key() }))],
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
    distributionStartingBlockHeight: f.u64(), numPartitions: f.u64(), parentBlockhash: f.key(),
    totalPoints: f.u128(), totalRewards: f.amount(), distributedRewards: f.amount(), active: f.flag(),
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

/** The lowest bit is the first slot. */
function reversed(word: bigint): string {
  return word.toString(2).padStart(WORD_BITS, '0').split('').reverse().join('');
}
