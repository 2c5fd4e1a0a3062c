import { COMPUTE_BUDGET_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import type { Instruction } from '../../../src/sandbox/service/build/instructions.ts';
import { decompile, recompile } from './decompile.ts';
import type { Golden } from './goldens.ts';

/** What earlier versions get without asking. */
const LOADED_BYTES = 64 * 1_024 * 1_024;
const USUAL_UNITS = 200_000;

/** Returns goldens, and of each so many-th its twin in version 1 too, as kit composes it, where it fits. */
export function withV1(goldens: readonly Golden[], { every }: { readonly every: number }): readonly Golden[] {
  return goldens.flatMap((golden, index) => [golden, ...(index % every === 0 ? asV1(golden) ?? [] : [])]);
}

/**
 * Returns the same transaction in version 1, with its compute budget in the message; undefined where it has too many
 * accounts. What it pays for priority is what the network would have taken for the instructions.
 */
export function asV1(golden: Golden): readonly [Golden] | undefined {
  const parts = decompile(golden.bytes, golden.tables);
  const ofBudget = (kind: number): Buffer | undefined => {
    const found = parts.instructions.find((candidate) => isBudget(candidate) && candidate.data[0] === kind);
    return found === undefined ? undefined : Buffer.from(found.data);
  };
  const instructions = parts.instructions.filter((candidate) => !isBudget(candidate));
  const units = ofBudget(2)?.readUInt32LE(1) ?? USUAL_UNITS;
  const price = ofBudget(3)?.readBigUInt64LE(1) ?? 0n;
  const accounts = instructions.flatMap(({ programId, accounts: named }) =>
    [programId, ...named.map(({ pubkey }) => pubkey)]);
  if (new Set([parts.payer, ...accounts]).size > 64) return undefined;
  const { bytes, tables } = recompile({
    ...parts, instructions, config: {
      computeUnitLimit: units, loadedAccountsDataSizeLimit: LOADED_BYTES,
      priorityFeeLamports: (BigInt(units) * price + 999_999n) / 1_000_000n,
    },
  }, 'written');
  return [{ ...golden, kind: `${golden.kind}, version 1`, bytes, tables }];
}

function isBudget({ programId }: Instruction): boolean {
  return programId === COMPUTE_BUDGET_PROGRAM;
}
