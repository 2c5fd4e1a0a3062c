import type { WalletContents } from '../../chain/wallet-contents.ts';
import type { Chain } from '../../chain/chain.ts';
import { movesRealMoney } from '../../config/live-gate.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { isGannetError } from '../../core/errors.ts';
import { showAmount } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import { printable } from '../../core/text.ts';
import type { TokenRecord } from '../../market/token-record.ts';
import { judgeToken, TOKEN_FINDINGS } from '../../trading/token-safety.ts';
import { readAccount, recordFacts } from '../watch/token-watch.ts';
import type { Check } from './check.ts';
import { checksOf } from './check.ts';

const { ok, warning, fault } = checksOf('money');

/** What the fees and deposits of some swaps may take. */
const FEES_LAMPORTS = 10_000_000n;

interface MoneyScope {
  readonly config: RunConfig;
  readonly chain: Chain;
  readonly address: string;
  /** What strategies hold, by strategy and mint; empty before the first run. */
  readonly books: Readonly<Record<string, { readonly balances: Readonly<Record<string, string>> }>>;
}

/** Returns whether the wallet holds what the strategies are to spend. */
export async function walletChecks(scope: MoneyScope): Promise<Check[]> {
  const { config, chain, address } = scope;
  try {
    const contents = await chain.wallet(address);
    return [solCheck(config, address, contents), ...budgetChecks(scope, contents), ...exitChecks(scope)];
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return [warning('balance', `the balance of ${address} could not be read: ${error.message}`,
      'see "gannet wallet", and the checks of the chain')];
  }
}

function solCheck({ wallet: { solReserve }, tokens }: RunConfig, address: string, { lamports }: WalletContents): Check {
  const text = `the wallet has ${showAmount(tokens, SOL_MINT, lamports)}`;
  const wanted = `${showAmount(tokens, SOL_MINT, solReserve)} are kept for exits`;
  if (lamports >= solReserve + FEES_LAMPORTS) return ok('balance', `${text}, and ${wanted}`);
  return fault('balance', `${text}, which leaves nothing for fees: ${wanted}`,
    `send ${showAmount(tokens, SOL_MINT, solReserve + FEES_LAMPORTS - lamports)} or more to ${address}`);
}

/** A strategy that has traded spends what its book holds; another one its budget. */
function budgetChecks({ config, address, books }: MoneyScope, { lamports, accounts }: WalletContents): Check[] {
  const needed = new Map<Mint, bigint>();
  for (const { name, budget } of config.strategies) {
    if (budget === undefined) continue;
    const left = Object.hasOwn(books, name) ? BigInt(books[name]!.balances[budget.mint] ?? '0') : budget.amount;
    needed.set(budget.mint, (needed.get(budget.mint) ?? 0n) + left);
  }
  const short = [...needed].flatMap(([mint, amount]) => {
    const inAccounts = accounts.filter((account) => account.mint === mint)
      .reduce((sum, account) => sum + account.amount, 0n);
    const held = mint === SOL_MINT ? inAccounts + lamports - config.wallet.solReserve : inAccounts;
    if (held >= amount) return [];
    const missing = showAmount(config.tokens, mint, amount - held);
    return [warning('budgets', `the strategies are to spend ${showAmount(config.tokens, mint, amount)}, and `
      + `the wallet has ${missing} less`, `send ${missing} to ${address}, or lower the budgets`)];
  });
  return short.length > 0 ? short : [ok('budgets', 'the wallet covers the budgets')];
}

const DAY_SALES_MAX = 1n;

/** A position that was bought before caps were lowered may take long to sell. */
function exitChecks({ config: { signer, strategies, tokens }, books }: MoneyScope): Check[] {
  const budgets = new Map(strategies.map(({ name, budget }) => [name, budget?.mint]));
  return Object.entries(books).flatMap(([name, { balances }]) => Object.entries(balances).flatMap(([mint, text]) => {
    const cap = signer.caps.get(mint as Mint);
    const held = BigInt(text);
    if (cap === undefined || held === 0n || budgets.get(name) === mint) return [];
    const sales = cap.perTrade === undefined ? 1n : (held + cap.perTrade - 1n) / cap.perTrade;
    const days = cap.perDay === undefined ? 1n : (held + cap.perDay - 1n) / cap.perDay;
    if (days <= DAY_SALES_MAX) return [];
    return [warning('exits', `${name} holds ${showAmount(tokens, mint as Mint, held)}, which takes ${sales} `
      + `sales over ${days} days under the caps of the signer`,
      `raise signer.caps.${tokens.byMint(mint as Mint)?.symbol ?? mint}, and start again`)];
  }));
}

/** Returns the tokens that strategies may not buy, because of what their issuers can do. One question each. */
export async function tokenChecks({ config, chain, records }: {
  readonly config: RunConfig; readonly chain: Chain | undefined; readonly records: readonly TokenRecord[];
}): Promise<Check[]> {
  const { tokens, limits: { tokenSafety } } = config;
  if (tokenSafety === undefined || chain === undefined) return [];
  const checked = tokens.all.filter(({ mint }) => !tokenSafety.trusted.has(mint));
  const results = await Promise.all(checked.map(async ({ mint, symbol }) => {
    const record = records.find(({ id }) => id === mint);
    try {
      const facts = { record: record && recordFacts(record), account: await readAccount(chain, mint), canBeSold: true };
      const findings = judgeToken(facts, tokenSafety);
      if (findings.length === 0) return [];
      return [warning('tokens', `${printable(symbol)} is not bought: `
        + findings.map((code) => `${code} (${TOKEN_FINDINGS[code]})`).join(', '),
        `remove it; or where you trust its issuer, add ${printable(symbol)} to risk.token_safety.trusted`)];
    } catch (error) {
      if (!isGannetError(error)) throw error;
      return [warning('tokens', `${printable(symbol)} could not be checked: ${error.message}`,
        'see the checks of the chain')];
    }
  }));
  const found = results.flat();
  if (found.length > 0 || !movesRealMoney(config)) return found;
  return [ok('tokens', 'every configured token may be bought')];
}
