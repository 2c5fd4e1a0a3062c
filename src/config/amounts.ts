import type { Amount } from '../core/amount.ts';
import { amount, parseDecimal, parseRaw } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import type { Mint, Token, TokenTable } from '../market/token.ts';
import { parseTokenAmount } from '../strategy/params.ts';
import type { ValueLimit } from '../trading/limits.ts';
import type { ConfigPath } from './issue.ts';
import type { ProblemList } from './problem.ts';
import { shown } from './wallet-key-shape.ts';

/** Reads the amounts of a configuration; what is wrong with one is added to the problems, and it is undefined. */
export interface AmountReader {
  /** Returns an amount that names its token, "200 USDC" or "1500 raw SOL". */
  withToken(path: ConfigPath, text: string | undefined): ValueLimit | undefined;
  /** Returns an amount above zero that names its token. */
  limit(path: ConfigPath, text: string | undefined): ValueLimit | undefined;
  /** Returns an amount of a token that is known already, in whole tokens: "10000". */
  ofToken(path: ConfigPath, text: string, token: Token): Amount | undefined;
  /** Returns amounts by token, "10000" or "1500 raw" under a token's alias. */
  byToken(path: ConfigPath, entries: Readonly<Record<string, string>>): Map<Mint, Amount>;
  /** Returns the token of an alias, which stands at `path` as a key or as a value. */
  token(path: ConfigPath, alias: string, at: 'key' | 'value'): Token | undefined;
}

/** Returns a reader over the configured tokens. */
export function createAmountReader(tokens: TokenTable, problems: ProblemList): AmountReader {
  const token: AmountReader['token'] = (path, alias, at) => {
    const found = tokens.bySymbol(alias);
    if (found !== undefined) return found;
    const symbols = tokens.all.map(({ symbol }) => symbol);
    const close = nearest(alias, symbols);
    problems.add(
      path,
      `unknown token "${shown(alias, 60)}"${close === undefined ? '' : ` (did you mean "${close}"?)`}; known `
        + `are ${symbols.join(', ')}`,
      { at },
    );
    return undefined;
  };
  const withToken: AmountReader['withToken'] = (path, text) => {
    if (text === undefined) return undefined;
    const parsed = parseTokenAmount(text, tokens);
    if (typeof parsed !== 'string') return { mint: parsed.token.mint, amount: amount(parsed.amount) };
    problems.add(path, parsed);
    return undefined;
  };
  const attempt = (path: ConfigPath, read: () => Amount): Amount | undefined => {
    try {
      return read();
    } catch (error) {
      if (!isGannetError(error)) throw error;
      problems.add(path, error.message);
      return undefined;
    }
  };
  return {
    token,
    withToken,
    ofToken: (path, text, { decimals }) => attempt(path, () => parseDecimal(text, decimals)),
    limit(path, text) {
      const found = withToken(path, text);
      if (found?.amount === 0n) problems.add(path, 'expected a limit above zero');
      return found;
    },
    byToken(path, entries) {
      const amounts = new Map<Mint, Amount>();
      for (const [alias, text] of Object.entries(entries)) {
        const known = token([...path, alias], alias, 'key');
        if (known === undefined) continue;
        const raw = /^(\S+) +raw$/.exec(text)?.[1];
        const found = attempt([...path, alias], () =>
          (raw === undefined ? parseDecimal(text, known.decimals) : parseRaw(raw)));
        if (found !== undefined) amounts.set(known.mint, found);
      }
      return amounts;
    },
  };
}
