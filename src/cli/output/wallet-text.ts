import type { WalletContents, WalletTokenAccount } from '../../chain/wallet-contents.ts';
import type { KeptAccount, OwnedTokenAccount } from '../../chain/close-accounts.ts';
import { closableAccounts, depositOf } from '../../chain/close-accounts.ts';
import { shortened } from './figures.ts';
import type { Fact } from './table.ts';
import { facts, table } from './table.ts';
import { formatDecimal } from '../../core/amount.ts';
import type { ClosingState } from '../../daemon/run/account-closing.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import { SOL_DECIMALS, TOKEN_2022_PROGRAM } from '../../solana/constants.ts';


/** A wallet as the command shows it. */
interface ShownWallet {
  readonly address: string;
  readonly contents: WalletContents;
  readonly tokens: TokenTable;
  /** Lamports. */
  readonly solReserve: bigint;
}

/** Sums over a wallet, in lamports. */
interface Sums {
  readonly native: bigint;
  readonly wrapped: bigint;
  readonly deposits: bigint;
  /** How far native and wrapped SOL together are below the reserve. */
  readonly missing: bigint;
}

function sumsOf({ contents: { lamports: native, accounts }, solReserve }: ShownWallet): Sums {
  const wrapped = total(accounts.filter(({ mint }) => mint === SOL_MINT), ({ amount }) => amount);
  const missing = solReserve - native - wrapped;
  return { native, wrapped, deposits: total(accounts, depositOf), missing: missing > 0n ? missing : 0n };
}

/** Returns a wallet for `--json`: amounts in smallest units as strings. */
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

/** Returns a token account for `--json`. */
function accountJson(account: WalletTokenAccount, tokens: TokenTable): Readonly<Record<string, unknown>> {
  const {
    address, mint, amount, decimals, tokenProgram, isFrozen, delegate, delegatedAmount, closeAuthority, withheldFee,
  } = account;
  return {
    address, mint, symbol: tokens.byMint(mint)?.symbol ?? null, amount, decimals: decimals ?? null,
    token_program: tokenProgram, deposit_lamports: depositOf(account), frozen: isFrozen,
    delegate: delegate ?? null, delegated_amount: delegatedAmount, close_authority: closeAuthority ?? null,
    withheld_fee: withheldFee,
  };
}

function closingJson({ address, contents: { accounts } }: ShownWallet, unwrap: boolean): unknown {
  const { closable, kept } = closableAccounts(accounts, { owner: address, unwrap });
  return {
    accounts: closable.map((account) => account.address), lamports: total(closable, ({ lamports }) => lamports),
    kept: kept.map(({ account, reason }) => ({ address: account.address, reason })),
  };
}

/** Returns a wallet as text. */
export function walletText(wallet: ShownWallet, { colour }: { readonly colour: boolean }): string {
  const { address, contents: { accounts }, tokens } = wallet;
  const { native, wrapped, deposits } = sumsOf(wallet);
  const rows = accounts.map((account) => [
    tokenName(account.mint, tokens), amountText(account),
    account.tokenProgram === TOKEN_2022_PROGRAM ? 'token-2022' : 'token',
    formatDecimal(depositOf(account), SOL_DECIMALS), marksOf(account).join(', '), account.mint,
  ]);
  return [
    facts([
      ['wallet', address],
      ['SOL', `${solText(native + wrapped)}: ${formatDecimal(native, SOL_DECIMALS)} native, `
        + `${formatDecimal(wrapped, SOL_DECIMALS)} wrapped`],
      ['reserve', reserveText(wallet)],
      ['deposits', accounts.length === 0 ? 'none: there are no token accounts'
        : `${solText(deposits)} in ${accountsText(accounts.length)}, each returned when its account is closed`],
      ['close-empty', closingText(wallet)],
    ]),
    rows.length === 0 ? ''
      : `\n${table(
        [['token', 'amount', 'program', 'deposit (SOL)', 'marks', 'mint'], ...rows],
        { right: [1, 3], colour, below: [5] },
      )}`,
  ].join('');
}

function reserveText(wallet: ShownWallet): string[] {
  const { native, wrapped, missing } = sumsOf(wallet);
  const kept = `${solText(wallet.solReserve)} that no strategy may spend`;
  if (missing > 0n)
    return [`${kept} !! the wallet is ${solText(missing)} below it: no entries until there is more SOL`];
  // Only native SOL pays fees.
  if (wrapped > 0n && native < wallet.solReserve) return [kept, '!! without the wrapped SOL the wallet is below it, '
    + 'and wrapped SOL pays no fees: "gannet wallet close-empty --unwrap" unwraps it'];
  return [kept];
}

function closingText({ address, contents: { accounts } }: ShownWallet): string[] {
  const empty = closableAccounts(accounts, { owner: address, unwrap: false });
  const all = closableAccounts(accounts, { owner: address, unwrap: true }).closable;
  return [
    empty.closable.length === 0 ? 'nothing to close'
      : `would return ${solText(total(empty.closable, ({ lamports }) => lamports))} of `
        + `${accountsText(empty.closable.length)}, less the network fee`,
    ...(all.length === empty.closable.length ? []
      : [`with --unwrap ${solText(total(all, ({ lamports }) => lamports))}, what is wrapped in it`]),
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

/** Returns the configured name of a mint, else both ends of its address. */
function tokenName(mint: Mint, tokens: TokenTable): string {
  if (mint === SOL_MINT) return 'wrapped SOL';
  return tokens.byMint(mint)?.symbol ?? shortened(mint);
}

function amountText({ amount, decimals }: WalletTokenAccount): string {
  return decimals === undefined ? `${amount} units` : formatDecimal(amount, decimals);
}

/** Returns lamports as SOL. */
function solText(lamports: bigint): string {
  return `${formatDecimal(lamports, SOL_DECIMALS)} SOL`;
}

/** Returns a number of accounts as text. */
function accountsText(count: number): string {
  return count === 1 ? '1 account' : `${count} accounts`;
}

/** Returns a sum over accounts. */
function total<Account extends OwnedTokenAccount>(
  accounts: readonly Account[], of: (account: Account) => bigint,
): bigint {
  return accounts.reduce((sum, account) => sum + of(account), 0n);
}

/** One account, and its actual or expected result. */
export interface ClosingLine {
  readonly account: WalletTokenAccount;
  readonly state: ClosingState | 'closable';
  readonly backLamports: bigint;
  readonly signature: string | undefined;
  readonly reason: string | undefined;
}

/** The actual or expected result of closing accounts. */
export interface ShownClosings {
  readonly address: string;
  readonly dryRun: boolean;
  readonly lines: readonly ClosingLine[];
  /** Empty accounts that cannot be closed. */
  readonly kept: readonly KeptAccount<WalletTokenAccount>[];
  readonly feeLamports: bigint;
}

/** Returns closings for `--json`: amounts in smallest units as strings. */
export function closingsJson(
  { address, dryRun, lines, kept, feeLamports }: ShownClosings, tokens: TokenTable,
): unknown {
  return {
    address, dry_run: dryRun, back_lamports: backOf(lines), fee_lamports: feeLamports,
    accounts: lines.map(({ account, state, backLamports, signature, reason }) => ({
      ...accountJson(account, tokens), state, back_lamports: backLamports, signature: signature ?? null,
      reason: reason ?? null,
    })),
    kept: kept.map(({ account, reason }) => ({ ...accountJson(account, tokens), reason })),
  };
}

/** Returns closings as text, a line an account. */
export function closingsText({ dryRun, lines, kept, feeLamports }: ShownClosings, tokens: TokenTable): string {
  const rows: Fact[] = [
    ...lines.map(({ account, state, backLamports, reason }): Fact =>
      [`${tokenName(account.mint, tokens)} ${account.address}`, lineText(state, backLamports, reason)]),
    ...kept.map(({ account, reason }): Fact =>
      [`${tokenName(account.mint, tokens)} ${account.address}`, `stays: ${reason}`]),
  ];
  const done = lines.filter(({ state }) => state === 'closed' || state === 'closable');
  const sum = done.length === 0
    ? `  ${lines.length === 0 ? 'nothing to close' : 'nothing closed'}`
      + `${feeLamports > 0n ? `, ${solText(feeLamports)} of fees` : ''}\n`
    : `  ${accountsText(done.length)} ${dryRun ? 'would be ' : ''}closed, ${solText(backOf(lines))} `
      + `returned, less ${solText(feeLamports)} of fees\n`;
  return `${facts(rows)}${sum}`;
}

/** Returns the accounts that the operator is asked to close. */
export function planText(accounts: readonly WalletTokenAccount[], tokens: TokenTable): string {
  const rows = accounts.map(({ mint, address, lamports }) => [tokenName(mint, tokens), address, solText(lamports)]);
  return table([['token', 'account', 'returns'], ...rows], { right: [2], below: [1] })
    + `  ${accountsText(accounts.length)}, ${solText(total(accounts, ({ lamports }) => lamports))} returned to the `
    + `wallet, less the network fee\n`;
}

function lineText(state: ClosingLine['state'], backLamports: bigint, reason: string | undefined): string {
  switch (state) {
    case 'closed': return `closed, ${solText(backLamports)} returned`;
    case 'closable': return `would return ${solText(backLamports)}`;
    case 'left': return `not started: ${reason ?? ''}`;
    case 'unknown': return `unknown: ${reason ?? ''}`;
    case 'refused': case 'failed': case 'expired': return `not closed: ${reason ?? ''}`;
  }
}

function backOf(lines: readonly ClosingLine[]): bigint {
  return lines.reduce((sum, { backLamports }) => sum + backLamports, 0n);
}
