import type { Fields } from './byte-fields.ts';
import { fieldsOf } from './byte-fields.ts';

/** An instruction in the parsed form of the nodes. */
export interface ParsedInstruction {
  readonly type: string;
  readonly info: Info;
}

/** The name of an account that the fields name. */
export const UNNAMED = '';

export type Info = Readonly<Record<string, unknown>>;

/** The names of an instruction's accounts in order, and the fields of its data. */
export interface Layout {
  readonly type: string;
  readonly accounts: readonly string[];
  /** Accounts behind the others, which may be left out. */
  readonly optional?: readonly string[];
  /**
   * Who signs, behind the accounts: one account under this name, or a common account of several signers under the same
   * name with `multisig` before it, and the signers behind it.
   */
  readonly signer?: string;
  /** Takes all accounts behind the others, under this name. */
  readonly rest?: string;
  readonly fields?: (fields: Fields, accounts: readonly string[]) => Info;
}

/** Returns an instruction in its parsed form, or undefined where accounts or data are missing. */
export function readInstruction(
  layout: Layout | undefined, accounts: readonly string[], fields: Buffer,
): ParsedInstruction | undefined {
  if (layout === undefined) return undefined;
  const { accounts: names, optional = [], signer, rest } = layout;
  const needed = names.length + (signer === undefined ? 0 : 1);
  if (accounts.length < needed) return undefined;
  try {
    const named = Object.fromEntries([...names, ...optional].slice(0, accounts.length)
      .flatMap((name, index) => (name === UNNAMED ? [] : [[name, accounts[index]]])));
    return { type: layout.type, info: {
      ...named, ...layout.fields?.(fieldsOf(fields), accounts),
      ...(signer === undefined ? {} : signersOf(signer, accounts.slice(names.length))),
      ...(rest === undefined ? {} : { [rest]: accounts.slice(names.length) }),
    } };
  } catch (error) {
    // Truncated data is no valid instruction.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function signersOf(name: string, [first, ...others]: readonly string[]): Info {
  if (others.length === 0) return { [name]: first };
  return { [`multisig${name.charAt(0).toUpperCase()}${name.slice(1)}`]: first, signers: others };
}
