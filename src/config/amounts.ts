import type { Amount } from '../core/amount.ts';
import { amount, parseDecimal, parseRaw } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import type { Mint, Token, TokenTable } from '../market/token.ts';
import { parseTokenAmount } from '../strategy/params.ts';
import type { ValueLimit } from '../trading/limits.ts';
import type { ConfigPath } from './issue.ts';
import type { ProblemList } from './problem.ts';

/** Reads the amounts of a configuration; what is wrong with one is added to the problems, and it is undefined. */
export interface AmountReader {
  /** Returns an amount that names its token, "200 USDC" or "1500 raw SOL". */
  withToken(path: ConfigPath, text: string | undefined): ValueLimit | undefined;
  /** Returns amounts by token, "10000" or "1500 raw" under a token's alias. */
  byToken(path: ConfigPath, entries: Readonly<Record<string, string>>): Map<Mint, Amount>;
  /** Returns the token of an alias that stands as a key at `path`. */
  tokenOfKey(path: ConfigPath, alias: string): Token | undefined;
}

/** Returns a reader over the configured tokens. */
export function createAmountReader(tokens: TokenTable, problems: ProblemList): AmountReader {
  const tokenOfKey = (path: ConfigPath, alias: string): Token | undefined => {
    const token = tokens.bySymbol(alias);
    if (token !== undefined) return token;
    const symbols = tokens.all.map(({ symbol }) => symbol);
    const close = nearest(alias, symbols);
    problems.add(path, `unknown token "${alias.slice(0, 60)}"${close === undefined ? '' : ` (did you mean "${close}"?)`}; known are ${symbols.join(', ')}`, { at: 'key' });
    return undefined;
  };
  return {
    tokenOfKey,
    withToken(path, text) {
      if (text === undefined) return undefined;
      const parsed = parseTokenAmount(text, tokens);
      if (typeof parsed !== 'string') return { mint: parsed.token.mint, amount: amount(parsed.amount) };
      problems.add(path, parsed);
      return undefined;
    },
    byToken(path, entries) {
      const amounts = new Map<Mint, Amount>();
      for (const [alias, text] of Object.entries(entries)) {
        const token = tokenOfKey([...path, alias], alias);
        if (token === undefined) continue;
        try {
          const raw = /^(\S+) +raw$/.exec(text)?.[1];
          amounts.set(token.mint, raw === undefined ? parseDecimal(text, token.decimals) : parseRaw(raw));
        } catch (error) {
          if (!isGannetError(error)) throw error;
          problems.add([...path, alias], error.message);
        }
      }
      return amounts;
    },
  };
}
