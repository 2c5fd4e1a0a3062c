import type { Json } from '../../core/json.ts';
import { isAddress } from '../../solana/addresses.ts';
import type { AccountData } from '../../solana/accounts.ts';
import type { JsonRpc } from './json-rpc.ts';
import { invalid, isRecord } from './json-rpc.ts';

/** An account as a node returns it; the data may be its beginning alone. */
export interface ReadAccount extends AccountData {
  readonly lamports: bigint;
}

/** Of getMultipleAccounts. */
const MAX_ACCOUNTS_PER_CALL = 100;
const MAX_U64 = 2n ** 64n - 1n;

/** Returns accounts in the order of their addresses, and the newest slot they were read at. */
export async function readAccounts(rpc: JsonRpc, addresses: readonly string[], options: {
  readonly commitment: 'processed' | 'confirmed';
  readonly dataSlice?: { readonly offset: number; readonly length: number };
  readonly minContextSlot?: number | undefined;
}): Promise<{ readonly slot: number; readonly accounts: readonly (ReadAccount | undefined)[] }> {
  const method = 'getMultipleAccounts';
  const chunks = Array.from({ length: Math.ceil(addresses.length / MAX_ACCOUNTS_PER_CALL) }, (_, index) =>
    addresses.slice(index * MAX_ACCOUNTS_PER_CALL, (index + 1) * MAX_ACCOUNTS_PER_CALL));
  const answers = await Promise.all(chunks.map(async (chunk) => {
    const { slot, value } = atSlot(await rpc.call(method, [chunk, { encoding: 'base64', ...options }]), method);
    return { slot, accounts: accountList(value, { method, length: chunk.length }) };
  }));
  return {
    slot: Math.max(0, ...answers.map(({ slot }) => slot)), accounts: answers.flatMap(({ accounts }) => accounts),
  };
}

/** Returns the value of an answer, and the slot it holds for. Throws CHAIN_RESPONSE_INVALID. */
export function atSlot(answer: Json, method: string): { readonly slot: number; readonly value: Json | undefined } {
  const context = isRecord(answer) ? answer['context'] : undefined;
  if (!isRecord(answer) || !isRecord(context)) throw invalid(method, 'a value with its slot');
  return { slot: Number(readU64(context['slot'], method)), value: answer['value'] };
}

/** Returns the accounts of an answer. Throws CHAIN_RESPONSE_INVALID. */
export function accountList(
  value: Json | undefined, { method, length }: { readonly method: string; readonly length: number },
): readonly (ReadAccount | undefined)[] {
  if (!Array.isArray(value) || value.length !== length) throw invalid(method, `${length} accounts`);
  return value.map((account) => readAccount(account as Json, method));
}

/** Returns an account of an answer, undefined where there is none. Throws CHAIN_RESPONSE_INVALID on any other value. */
function readAccount(value: Json | undefined, method: string): ReadAccount | undefined {
  if (value === null) return undefined;
  if (!isRecord(value)) throw invalid(method, 'an account or null');
  const { lamports, owner, data } = value;
  if (typeof owner !== 'string' || !isAddress(owner)) throw invalid(method, 'the owner of an account');
  const inBase64 = 'the data of an account in base64';
  const [text, encoding] = Array.isArray(data) && data.length === 2 ? data as readonly Json[] : [];
  if (typeof text !== 'string' || encoding !== 'base64') throw invalid(method, inBase64);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw invalid(method, inBase64);
  return { lamports: readU64(lamports, method), owner, data: bytes };
}

/** Returns a whole number of 64 bits. Throws CHAIN_RESPONSE_INVALID on anything else. */
function readU64(value: Json | undefined, method: string): bigint {
  const isSafe = typeof value === 'number' && Number.isSafeInteger(value);
  const whole = typeof value === 'bigint' ? value : isSafe ? BigInt(value) : -1n;
  if (whole < 0n || whole > MAX_U64) throw invalid(method, 'a whole number of 64 bits');
  return whole;
}
