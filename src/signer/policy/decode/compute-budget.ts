import type { ResolvedInstruction } from '../resolve.ts';
import { refuse, type Decoded } from './decoded.ts';

type Setting = Extract<Decoded, { kind: 'budget' }>['setting'];

const SETTINGS: ReadonlyMap<number, { readonly setting: Setting; readonly bytes: number }> = new Map([
  [1, { setting: 'heap bytes', bytes: 4 }],
  [2, { setting: 'unit limit', bytes: 4 }],
  [3, { setting: 'unit price', bytes: 8 }],
  [4, { setting: 'loaded bytes', bytes: 4 }],
]);

/** Returns what an instruction of the compute-budget program sets. Its first kind, which carried a fee of its own, is refused: the network no longer takes it. */
export function decodeComputeBudget({ accounts, data }: ResolvedInstruction): Decoded {
  const known = SETTINGS.get(data[0] ?? -1);
  if (known === undefined) return refuse('BUDGET_INVALID', `expected an instruction of kind 1 to 4, got ${data[0] ?? 'no data'}`);
  if (data.length !== 1 + known.bytes || accounts.length > 0) {
    return refuse('BUDGET_INVALID', `${known.setting}: expected ${1 + known.bytes} bytes and no accounts, got ${data.length} bytes and ${accounts.length} accounts`);
  }
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return { kind: 'budget', setting: known.setting, value: known.bytes === 8 ? view.readBigUInt64LE(1) : BigInt(view.readUInt32LE(1)) };
}
