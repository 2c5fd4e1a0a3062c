import type { Accounts } from './accounts.ts';
import type { Address } from './addresses.ts';
import type { TokenBalance } from './history.ts';
import { decodeTokenAccount, isTokenProgram } from './token-layout.ts';
import type { Account, Vm } from './vm.ts';

/** Reads the accounts of a transaction before and after it runs. */
interface AccountReader {
  read: (keys: readonly Address[], writable: ReadonlySet<Address>) => Map<Address, Account>;
  /** Reads the writable accounts again; no other can have changed. */
  readAgain: (before: ReadonlyMap<Address, Account>, writable: ReadonlySet<Address>) => Map<Address, Account>;
}

/** Returns a reader that keeps programs, which are expensive to read. */
export function createAccountReader(vm: Vm): AccountReader {
  // Reading a program copies all of its code, which costs more than executing most instructions.
  const programs = new Map<Address, Account>();

  return {
    read(keys, writable) {
      const read = new Map<Address, Account>();
      for (const key of keys) {
        if (writable.has(key)) programs.delete(key);
        const account = programs.get(key) ?? vm.account(key);
        if (!account) continue;
        if (account.executable && !writable.has(key)) programs.set(key, account);
        read.set(key, account);
      }
      return read;
    },
    readAgain(before, writable) {
      const read = new Map(before);
      for (const key of writable) {
        const account = vm.account(key);
        if (account) read.set(key, account);
        else read.delete(key);
      }
      return read;
    },
  };
}

/** Returns the lamports of each key, 0 where there is no account. */
export function lamportsOf(keys: readonly Address[], from: ReadonlyMap<Address, Account>): bigint[] {
  return keys.map((key) => from.get(key)?.lamports ?? 0n);
}

/** Returns the balances of those keys that are token accounts. */
export function tokenBalancesOf(
  keys: readonly Address[], from: ReadonlyMap<Address, Account>, { decimals }: Accounts,
): TokenBalance[] {
  const balances: TokenBalance[] = [];
  keys.forEach((key, accountIndex) => {
    const account = from.get(key);
    if (!account || !isTokenProgram(account.owner)) return;
    const state = decodeTokenAccount(account.data);
    if (!state) return;
    const { mint, owner, amount } = state;
    balances.push({ accountIndex, mint, owner, tokenProgram: account.owner, amount, decimals: decimals(mint) });
  });
  return balances;
}
