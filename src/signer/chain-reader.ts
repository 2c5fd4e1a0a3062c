import { GannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { readAccount, readLookupTable, readMintDecimals, readTokenAccount, readU64, TOKEN_ACCOUNT_HEAD_BYTES, type ReadAccount } from './account-data.ts';
import { invalid, isRecord, type JsonRpc } from './json-rpc.ts';
import { SYSTEM_PROGRAM } from './policy/known-programs.ts';
import type { LookupTables } from './policy/resolve.ts';
import type { SimulatedChanges } from './policy/simulation.ts';

/** What the signer asks of its own node; every method throws CHAIN_UNREACHABLE, CHAIN_RPC_ERROR or CHAIN_RESPONSE_INVALID. */
export interface ChainReader {
  /** Returns what tables hold, for each at least up to the place given with it. Those that do not exist, are being closed or are shorter than they must be are left out or short. */
  lookupTables(highestPlaces: ReadonlyMap<string, number>): Promise<LookupTables>;
  /** Returns the decimals of a mint; undefined where there is none. */
  decimalsOf(mint: string): Promise<number | undefined>;
  /** Returns what a transaction would do to the wallet. Throws CHAIN_SIMULATION_FAILED where it would fail. */
  simulate(transaction: Uint8Array, options: {
    readonly wallet: string;
    /** Who gets SOL in the wallet's place. */
    readonly receiver?: string | undefined;
    /** Every account that the transaction can change. */
    readonly writable: readonly string[];
  }): Promise<SimulatedChanges>;
  close(): void;
}

/** Of getMultipleAccounts. */
const MAX_ACCOUNTS_PER_CALL = 100;
/** Whoever asks may name ever new tables and mints. */
const MAX_REMEMBERED = 1_000;

/**
 * Returns a reader over one node. A table that was read once is read again only for places beyond its end: what it holds
 * never changes, its address never serves another one, and a table being closed is refused when it is first read. Of
 * token accounts only those are looked at that the transaction can change: no other one can become less.
 */
export function createChainReader(rpc: JsonRpc): ChainReader {
  const tables = new Map<string, readonly string[]>();
  const decimals = new Map<string, number>();

  return {
    async lookupTables(highestPlaces) {
      const missing = [...highestPlaces].filter(([table, place]) => (tables.get(table)?.length ?? 0) <= place).map(([table]) => table);
      if (missing.length > 0) {
        const { accounts } = await readAccounts(missing, { commitment: 'confirmed' });
        for (const [index, table] of missing.entries()) {
          const held = readLookupTable(accounts[index]);
          if (held === undefined) tables.delete(table);
          else remember(tables, table, held);
        }
      }
      return new Map([...highestPlaces.keys()].flatMap((table) => {
        const held = tables.get(table);
        return held === undefined ? [] : [[table, held] as const];
      }));
    },

    async decimalsOf(mint) {
      const known = decimals.get(mint);
      if (known !== undefined) return known;
      const { accounts: [account] } = await readAccounts([mint], { commitment: 'confirmed' });
      const read = readMintDecimals(account);
      if (read !== undefined) remember(decimals, mint, read);
      return read;
    },

    async simulate(transaction, { wallet, receiver, writable }) {
      const asked = [...new Set([wallet, ...writable])];
      // Both as of the newest block: what has just landed must not look like what this transaction does.
      const before = await readAccounts(asked, { commitment: 'processed', dataSlice: { offset: 0, length: TOKEN_ACCOUNT_HEAD_BYTES } });
      const beforeOf = new Map(asked.map((address, index) => [address, before.accounts[index]] as const));
      // What holds other data belongs to a program that is no token program, and is none of the wallet's money.
      const watched = asked.filter((address) => address === wallet || address === receiver || mayHoldTokens(beforeOf.get(address)));
      const after = await simulatedAccounts(transaction, watched, before.slot);
      const afterOf = new Map(watched.map((address, index) => [address, after[index]] as const));
      return {
        wallet: {
          before: beforeOf.get(wallet)?.lamports ?? 0n, after: afterOf.get(wallet)?.lamports ?? 0n,
          programAfter: afterOf.get(wallet)?.owner ?? SYSTEM_PROGRAM,
        },
        receiver: receiver === undefined ? undefined : { before: beforeOf.get(receiver)?.lamports ?? 0n, after: afterOf.get(receiver)?.lamports ?? 0n },
        tokenAccounts: watched.flatMap((address) => {
          const states = { before: readTokenAccount(beforeOf.get(address)), after: readTokenAccount(afterOf.get(address)) };
          return states.before === undefined && states.after === undefined ? [] : [{ address, ...states }];
        }),
      };
    },

    close: () => { rpc.close(); },
  };

  async function readAccounts(addresses: readonly string[], options: {
    readonly commitment: 'processed' | 'confirmed'; readonly dataSlice?: { readonly offset: number; readonly length: number };
  }): Promise<{ readonly slot: number; readonly accounts: readonly (ReadAccount | undefined)[] }> {
    const method = 'getMultipleAccounts';
    const chunks = Array.from({ length: Math.ceil(addresses.length / MAX_ACCOUNTS_PER_CALL) }, (_, index) => addresses.slice(index * MAX_ACCOUNTS_PER_CALL, (index + 1) * MAX_ACCOUNTS_PER_CALL));
    const answers = await Promise.all(chunks.map(async (chunk) => {
      const { slot, value } = atSlot(await rpc.call(method, [chunk, { encoding: 'base64', ...options }]), method);
      return { slot, accounts: accountList(value, { method, length: chunk.length }) };
    }));
    return { slot: Math.max(0, ...answers.map(({ slot }) => slot)), accounts: answers.flatMap(({ accounts }) => accounts) };
  }

  async function simulatedAccounts(transaction: Uint8Array, addresses: readonly string[], minContextSlot: number): Promise<readonly (ReadAccount | undefined)[]> {
    const method = 'simulateTransaction';
    const { value } = atSlot(await rpc.call(method, [Buffer.from(transaction).toString('base64'), {
      encoding: 'base64', commitment: 'processed', sigVerify: false, replaceRecentBlockhash: true, minContextSlot, accounts: { encoding: 'base64', addresses },
    }]), method);
    if (!isRecord(value)) throw invalid(method, 'a simulation');
    if (value['err'] === undefined) throw invalid(method, 'whether it succeeded');
    if (value['err'] !== null) throw new GannetError('CHAIN_SIMULATION_FAILED', `it would fail on the chain: ${errorText(value['err'])}`);
    return accountList(value['accounts'], { method, length: addresses.length });
  }
}

/** In as many levels as a chain's own errors have: a node may send a thousand. */
function errorText(error: Json, levels = 4): string {
  if (typeof error !== 'object' || error === null) return printable(String(error), 100);
  if (levels === 0) return '…';
  return `{${Object.entries(error).slice(0, 4).map(([key, value]) => `${printable(key, 60)}: ${errorText(value, levels - 1)}`).join(', ')}}`;
}

/** Accounts of the token programs, and those that can still become one: there is nothing there yet. */
function mayHoldTokens(account: ReadAccount | undefined): boolean {
  return account === undefined || account.data.length === 0 || readTokenAccount(account) !== undefined;
}

function atSlot(answer: Json, method: string): { readonly slot: number; readonly value: Json | undefined } {
  const context = isRecord(answer) ? answer['context'] : undefined;
  if (!isRecord(answer) || !isRecord(context)) throw invalid(method, 'a value with its slot');
  return { slot: Number(readU64(context['slot'], method)), value: answer['value'] };
}

function accountList(value: Json | undefined, { method, length }: { readonly method: string; readonly length: number }): readonly (ReadAccount | undefined)[] {
  if (!Array.isArray(value) || value.length !== length) throw invalid(method, `${length} accounts`);
  return value.map((account) => readAccount(account as Json, method));
}

function remember<Value>(cache: Map<string, Value>, key: string, value: Value): void {
  // A map keeps the order of insertion, so the first key is the oldest.
  if (cache.size >= MAX_REMEMBERED && !cache.has(key)) cache.delete(cache.keys().next().value!);
  cache.set(key, value);
}
