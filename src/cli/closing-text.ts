import type { KeptAccount } from '../chain/close-accounts.ts';
import type { WalletTokenAccount } from '../chain/wallet-contents.ts';
import type { ClosingState } from '../daemon/close-accounts.ts';
import type { TokenTable } from '../market/token.ts';
import { facts, table, type Fact } from './table.ts';
import { accountJson, accountsText, solText, tokenName, total } from './wallet-text.ts';

/** One account, and what became of it or would. */
export interface ClosingLine {
  readonly account: WalletTokenAccount;
  readonly state: ClosingState | 'closable';
  readonly backLamports: bigint;
  readonly signature: string | undefined;
  readonly reason: string | undefined;
}

/** What closing came to, or would. */
export interface ShownClosings {
  readonly address: string;
  readonly dryRun: boolean;
  readonly lines: readonly ClosingLine[];
  /** Empty ones that cannot be closed. */
  readonly kept: readonly KeptAccount<WalletTokenAccount>[];
  readonly feeLamports: bigint;
}

/** Returns it as JSON: amounts in smallest units as text. */
export function closingsJson({ address, dryRun, lines, kept, feeLamports }: ShownClosings, tokens: TokenTable): unknown {
  return {
    address, dry_run: dryRun, back_lamports: backOf(lines), fee_lamports: feeLamports,
    accounts: lines.map(({ account, state, backLamports, signature, reason }) => ({
      ...accountJson(account, tokens), state, back_lamports: backLamports, signature: signature ?? null, reason: reason ?? null,
    })),
    kept: kept.map(({ account, reason }) => ({ ...accountJson(account, tokens), reason })),
  };
}

/** Returns it for people, a line an account. */
export function closingsText({ dryRun, lines, kept, feeLamports }: ShownClosings, tokens: TokenTable): string {
  const rows: Fact[] = [
    ...lines.map(({ account, state, backLamports, reason }): Fact => [`${tokenName(account.mint, tokens)} ${account.address}`, lineText(state, backLamports, reason)]),
    ...kept.map(({ account, reason }): Fact => [`${tokenName(account.mint, tokens)} ${account.address}`, `stays: ${reason}`]),
  ];
  const done = lines.filter(({ state }) => state === 'closed' || state === 'closable');
  const sum = done.length === 0
    ? `  ${lines.length === 0 ? 'nothing to close' : 'nothing closed'}${feeLamports > 0n ? `, ${solText(feeLamports)} of fees` : ''}\n`
    : `  ${accountsText(done.length)} ${dryRun ? 'would be ' : ''}closed, ${solText(backOf(lines))} ${dryRun ? 'would come ' : ''}back, less ${solText(feeLamports)} of fees\n`;
  return `${facts(rows)}${sum}`;
}

/** Returns what a person is asked about. */
export function planText(accounts: readonly WalletTokenAccount[], tokens: TokenTable): string {
  const rows = accounts.map(({ mint, address, lamports }) => [tokenName(mint, tokens), address, solText(lamports)]);
  return table([['token', 'account', 'gives back'], ...rows], { right: [2], below: [1] })
    + `  ${accountsText(accounts.length)}, ${solText(total(accounts, ({ lamports }) => lamports))} back to the wallet, less the network's fee\n`;
}

function lineText(state: ClosingLine['state'], backLamports: bigint, reason: string | undefined): string {
  switch (state) {
    case 'closed': return `closed, ${solText(backLamports)} back`;
    case 'closable': return `would give ${solText(backLamports)} back`;
    case 'left': return `not begun: ${reason ?? ''}`;
    case 'unknown': return `unknown: ${reason ?? ''}`;
    case 'refused': case 'failed': case 'expired': return `not closed: ${reason ?? ''}`;
  }
}

function backOf(lines: readonly ClosingLine[]): bigint {
  return lines.reduce((sum, { backLamports }) => sum + backLamports, 0n);
}
