import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import type { LandedTransaction, TokenBalance } from '../../../src/sandbox/chain/chain.ts';
import { decodeTokenAccount } from '../../../src/sandbox/chain/token-layout.ts';
import { SOL, type TestSandbox } from './sandbox-client.ts';

/** What an owner holds: lamports under SOL, wrapped ones under their own name, tokens under their mints. */
export const WRAPPED = 'wrapped SOL';

/** Amounts by owner and asset; what is absent is none. */
export class Ledger {
  readonly #amounts = new Map<string, bigint>();

  add(owner: string, asset: string, amount: bigint): this {
    const key = `${owner} ${asset}`;
    const sum = (this.#amounts.get(key) ?? 0n) + amount;
    if (sum === 0n) this.#amounts.delete(key);
    else this.#amounts.set(key, sum);
    return this;
  }

  /** Returns what came to whom since an earlier ledger. */
  since(before: Ledger): Ledger {
    const change = new Ledger();
    for (const [ledger, sign] of [[this, 1n], [before, -1n]] as const) {
      for (const [key, amount] of ledger.#amounts) {
        const space = key.indexOf(' ');
        change.add(key.slice(0, space), key.slice(space + 1), sign * amount);
      }
    }
    return change;
  }

  /** Returns the entries in a form that can be compared and read; `names` stand for addresses. */
  entries(names: ReadonlyMap<string, string>): Record<string, string> {
    const named = [...this.#amounts].map(([key, amount]) =>
      [key.split(' ').map((word) => names.get(word) ?? word).join(' '), amount.toString()] as const);
    return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Returns what some owners have, in associated accounts. */
export function holdings({ chain }: TestSandbox, owners: readonly string[], mints: readonly string[]): Ledger {
  const ledger = new Ledger();
  for (const owner of owners) {
    ledger.add(owner, SOL, chain.balance(owner));
    for (const mint of mints) ledger.add(owner, mint === SOL ? WRAPPED : mint, chain.tokenBalance({ owner, mint }));
  }
  return ledger;
}

/** Returns how much there is of each token in all accounts of the chain, wrapped SOL left out: it comes and goes. */
export function totals({ chain }: TestSandbox): Record<string, string> {
  const sums = new Map<string, bigint>();
  for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
    for (const { data } of chain.programAccounts(program).values()) {
      const account = decodeTokenAccount(data);
      if (account !== undefined && account.mint !== SOL)
        sums.set(account.mint, (sums.get(account.mint) ?? 0n) + account.amount);
    }
  }
  return Object.fromEntries([...sums].map(([mint, sum]) => [mint, sum.toString()]));
}

/** Returns what a transaction made or destroyed: nothing of any token, and of SOL exactly its fee. */
export function imbalance(
  { preBalances, postBalances, preTokenBalances, postTokenBalances, feeLamports }: LandedTransaction,
): Record<string, bigint> {
  const change = new Map<string, bigint>([['lamports', sum(postBalances) - sum(preBalances) + feeLamports]]);
  const count = (balances: readonly TokenBalance[], sign: bigint): void => {
    for (const { mint, amount } of balances)
      if (mint !== SOL) change.set(mint, (change.get(mint) ?? 0n) + sign * amount);
  };
  count(preTokenBalances, -1n);
  count(postTokenBalances, 1n);
  return Object.fromEntries([...change].filter(([, amount]) => amount !== 0n));
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
