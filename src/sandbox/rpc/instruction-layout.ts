import bs58 from 'bs58';
import { exactNumber } from '../json-text.ts';

/** An instruction in the parsed form of the nodes. */
export interface ParsedInstruction {
  readonly type: string;
  readonly info: Info;
}

/** The name of an account that the fields name. */
export const UNNAMED = '';

export type Info = Readonly<Record<string, unknown>>;

/** Reads the fields behind an instruction's number, in order. Throws RangeError where there are none left. */
export interface Fields {
  u8(): number;
  u64(): number | bigint;
  /** Amounts of tokens are texts. */
  amount(): string;
  key(): string;
  /** Returns a key with a byte in front that tells whether there is one. */
  optionalKey(): string | null;
  text(): string;
  keys(): string[];
}

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

function fieldsOf(bytes: Buffer): Fields {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the data ends too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const key = (): string => bs58.encode(take(32));
  return {
    u8: () => take(1)[0]!,
    u64: () => exactNumber(take(8).readBigUInt64LE(0)),
    amount: () => take(8).readBigUInt64LE(0).toString(),
    key,
    optionalKey: () => (take(1)[0] === 0 ? null : key()),
    text: () => take(Number(take(8).readBigUInt64LE(0))).toString('utf8'),
    keys: () => {
      const count = Number(take(8).readBigUInt64LE(0));
      if (count > bytes.length) throw new RangeError('the data counts more keys than it holds');
      return Array.from({ length: count }, key);
    },
  };
}
