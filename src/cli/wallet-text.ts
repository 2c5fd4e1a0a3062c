import { TOKEN_2022_PROGRAM } from '../chain/addresses.ts';
import { closableAccounts, depositOf, type OwnedTokenAccount } from '../chain/close-accounts.ts';
import type { WalletContents, WalletTokenAccount } from '../chain/wallet-contents.ts';
import { formatDecimal } from '../core/amount.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import { SOL_MINT } from '../market/token.ts';
import { shortened } from './figures.ts';
import { facts, table } from './table.ts';

const SOL_DECIMALS = 9;

/** A wallet as it is shown. */
export interface ShownWallet {
  readonly address: string;
  readonly contents: WalletContents;
  readonly tokens: TokenTable;
  /** Lamports. */
  readonly solReserve: bigint;
}

/** What of a wallet is added up. Lamports. */
interface Sums {
  readonly native: bigint;
  readonly wrapped: bigint;
  readonly deposits: bigint;
  /** By how much SOL, native and wrapped together, is below the reserve. */
  readonly missing: bigint;
}

function sumsOf({ contents: { lamports: native, accounts }, solReserve }: ShownWallet): Sums {
  const wrapped = total(accounts.filter(({ mint }) => mint === SOL_MINT), ({ amount }) => amount);
  const missing = solReserve - native - wrapped;
  return { native, wrapped, deposits: total(accounts, depositOf), missing: missing > 0n ? missing : 0n };
}

/** Returns a wallet as JSON: amounts in smallest units as text. */
export function walletJson(wallet: ShownWallet): unknown {
  const { address, contents: { accounts }, tokens, solReserve } = wallet;
  const { native, wrapped, deposits, missing } = sumsOf(wallet);
  return {
    address,
    sol: { native, wrapped, total: native + wrapped },
    sol_reserve: { lamports: solReserve, missing, under: missing > 0n },
    deposits_lamports: deposits,
    accounts: accounts.map((account) => accountJson(account, tokens)),
    close_empty: closingJson(wallet, false),
    close_empty_unwrap: closingJson(wallet, true),
  };
}

/** Returns a token account as JSON. */
export function accountJson(account: WalletTokenAccount, tokens: TokenTable): Readonly<Record<string, unknown>> {
  const { address, mint, amount, decimals, tokenProgram, isFrozen, delegate, delegatedAmount, closeAuthority, withheldFee } = account;
  return {
    address, mint, symbol: tokens.byMint(mint)?.symbol ?? null, amount, decimals: decimals ?? null, token_program: tokenProgram,
    deposit_lamports: depositOf(account), frozen: isFrozen,
    delegate: delegate ?? null, delegated_amount: delegatedAmount, close_authority: closeAuthority ?? null, withheld_fee: withheldFee,
  };
}

function closingJson({ address, contents: { accounts } }: ShownWallet, unwrap: boolean): unknown {
  const { closable, kept } = closableAccounts(accounts, { owner: address, unwrap });
  return { accounts: closable.map((account) => account.address), lamports: total(closable, ({ lamports }) => lamports), kept: kept.map(({ account, reason }) => ({ address: account.address, reason })) };
}

/** Returns a wallet for people. */
export function walletText(wallet: ShownWallet, { colour }: { readonly colour: boolean }): string {
  const { address, contents: { accounts }, tokens } = wallet;
  const { native, wrapped, deposits } = sumsOf(wallet);
  const rows = accounts.map((account) => [
    tokenName(account.mint, tokens), amountText(account), account.tokenProgram === TOKEN_2022_PROGRAM ? 'token-2022' : 'token',
    formatDecimal(depositOf(account), SOL_DECIMALS), marksOf(account).join(', '), account.mint,
  ]);
  return [
    facts([
      ['wallet', address],
      ['SOL', `${solText(native + wrapped)}: ${formatDecimal(native, SOL_DECIMALS)} native, ${formatDecimal(wrapped, SOL_DECIMALS)} wrapped`],
      ['reserve', reserveText(wallet)],
      ['deposits', accounts.length === 0 ? 'none: there are no token accounts' : `${solText(deposits)} in ${accountsText(accounts.length)}: yours, each comes back when its account is closed`],
      ['close-empty', closingText(wallet)],
    ]),
    rows.length === 0 ? '' : `\n${table([['token', 'amount', 'program', 'deposit (SOL)', 'marks', 'mint'], ...rows], { right: [1, 3], colour, below: [5] })}`,
  ].join('');
}

function reserveText(wallet: ShownWallet): string[] {
  const { native, wrapped, missing } = sumsOf(wallet);
  const kept = `${solText(wallet.solReserve)} that no strategy may spend`;
  if (missing > 0n) return [`${kept} !! the wallet is ${solText(missing)} under it: nothing is entered until there is more SOL`];
  // Fees are paid in native SOL alone.
  if (wrapped > 0n && native < wallet.solReserve) return [kept, '!! without the wrapped SOL the wallet is under it, and no fee can be paid with that: "gannet wallet close-empty --unwrap" frees it'];
  return [kept];
}

function closingText({ address, contents: { accounts } }: ShownWallet): string[] {
  const empty = closableAccounts(accounts, { owner: address, unwrap: false });
  const all = closableAccounts(accounts, { owner: address, unwrap: true }).closable;
  return [
    empty.closable.length === 0 ? 'nothing to close' : `would give back ${solText(total(empty.closable, ({ lamports }) => lamports))} of ${accountsText(empty.closable.length)}, less the network's fee`,
    ...(all.length === empty.closable.length ? [] : [`with --unwrap ${solText(total(all, ({ lamports }) => lamports))}, what is wrapped in it`]),
    ...empty.kept.map(({ account, reason }) => `${account.address} stays: ${reason}`),
  ];
}

function marksOf({ isFrozen, delegate, closeAuthority, withheldFee, decimals }: WalletTokenAccount): string[] {
  return [
    ...(isFrozen ? ['frozen'] : []),
    ...(delegate === undefined ? [] : [`delegated to ${shortened(delegate)}`]),
    ...(closeAuthority === undefined ? [] : [`closed by ${shortened(closeAuthority)}`]),
    ...(withheldFee === 0n ? [] : ['fees withheld']),
    ...(decimals === undefined ? ['mint gone'] : []),
  ];
}

/** Returns what a mint is called: as in the configuration, else by its ends. */
export function tokenName(mint: Mint, tokens: TokenTable): string {
  if (mint === SOL_MINT) return 'wrapped SOL';
  return tokens.byMint(mint)?.symbol ?? shortened(mint);
}

function amountText({ amount, decimals }: WalletTokenAccount): string {
  return decimals === undefined ? `${amount} units` : formatDecimal(amount, decimals);
}

/** Returns lamports as SOL. */
export function solText(lamports: bigint): string {
  return `${formatDecimal(lamports, SOL_DECIMALS)} SOL`;
}

/** Returns a number of accounts in words. */
export function accountsText(count: number): string {
  return count === 1 ? '1 account' : `${count} accounts`;
}

/** Returns a sum over accounts. */
export function total<Account extends OwnedTokenAccount>(accounts: readonly Account[], of: (account: Account) => bigint): bigint {
  return accounts.reduce((sum, account) => sum + of(account), 0n);
}
