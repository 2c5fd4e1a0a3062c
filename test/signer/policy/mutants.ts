import type { Random } from '../../../src/core/random.ts';
import type { PolicyCode } from '../../../src/signer/policy/codes.ts';
import type { LookupTables } from '../../../src/signer/policy/lookup-tables.ts';
import { mostBytes, recompile, type Parts } from './decompile.ts';
import type { Golden } from './goldens.ts';
import { ADDITIONS } from './mutant-additions.ts';
import { CHANGES } from './mutant-changes.ts';
import { SCRATCHES } from './mutant-scratches.ts';
import { isSwap, victimOf } from './victim.ts';

/** A golden transaction with one thing done to it that must not be signed. */
export interface Mutant {
  readonly kind: string;
  /** The code that it deserves; other rules may be broken along with it. */
  readonly code: PolicyCode;
  readonly bytes: Uint8Array;
  readonly tables: LookupTables;
}

/** An account in the message needs no trust; one out of a table only a node says so. */
const IN_TABLE = 'nothing but where the accounts stand';

/** How many kinds of mutation there are, the places where something is hidden not counted. */
export const MUTANT_KINDS = [IN_TABLE, ...Object.keys(ADDITIONS), ...Object.keys(CHANGES), ...Object.keys(SCRATCHES)];

const PLACES = ['after', 'before'] as const;
const FORMS = ['written', 'hidden'] as const;
/** Version 1 has no tables. */
const V1_FORMS = ['written'] as const;

/** Yields every mutant of a golden that there is and that is not too long. */
export function* mutantsOf(golden: Golden, random: Random): Generator<Mutant> {
  const victim = victimOf(golden, random);
  const forms = victim.parts.config === undefined ? FORMS : V1_FORMS;
  for (const [kind, add] of Object.entries(ADDITIONS)) {
    const made = add(victim);
    if (made === undefined) continue;
    const [code, instructions] = made;
    for (const place of PLACES) {
      const all = place === 'after' ? [...victim.parts.instructions, ...instructions]
        : [...instructions, ...victim.parts.instructions];
      // What is too much in all is noticed where it becomes too much, which then is the swap.
      const isSwapTooMuch = code === 'TRANSFER_EXCEEDS' && place === 'before' && kind.startsWith('a unit of the input')
        && victim.parts.instructions.some(isSwap);
      for (const form of forms) yield* whole({
        kind: `${kind}, ${place}, ${form}`, code: isSwapTooMuch ? 'SWAP_AMOUNT_EXCEEDS' : code,
        parts: { ...victim.parts, instructions: all }, form,
      });
    }
  }
  for (const [kind, change] of Object.entries(CHANGES)) {
    const made = change(victim);
    if (made !== undefined)
      for (const form of forms) yield* whole({ kind: `${kind}, ${form}`, code: made[0], parts: made[1], form });
  }
  if (forms === FORMS) yield* whole({ kind: IN_TABLE, code: 'ACCOUNT_IN_TABLE', parts: victim.parts, form: 'hidden' });
  for (const [kind, scratch] of Object.entries(SCRATCHES)) {
    const made = scratch(golden.bytes, victim, random);
    if (made !== undefined) yield { kind, code: made[0], bytes: made[1], tables: golden.tables };
  }
}

function* whole(
  { kind, code, parts, form }: { kind: string; code: PolicyCode; parts: Parts; form: (typeof FORMS)[number] },
): Generator<Mutant> {
  const { bytes, tables } = recompile(parts, form);
  if (bytes.length <= mostBytes(bytes)) yield { kind, code, bytes, tables };
}
