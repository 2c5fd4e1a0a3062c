import { z } from 'zod';
import { parseDecimal, parseRaw } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import { isGannetError } from '../core/errors.ts';
import { nearest } from '../core/text.ts';
import { parseDuration } from '../core/time.ts';
import type { Pair, Token, TokenAmount, TokenTable } from '../market/token.ts';

/**
 * The tokens of the configuration that is being parsed. Parsing is synchronous, so this variable replaces an argument,
 * which zod cannot pass.
 */
let scope: TokenTable | undefined;

/** Calls `parse` with `tokens` as the aliases of token parameters, and returns its result. */
export function withTokens<T>(tokens: TokenTable, parse: () => T): T {
  const outer = scope;
  scope = tokens;
  try {
    return parse();
  } finally {
    scope = outer;
  }
}

/** Returns the schema of a token by its alias in the configuration. */
export function token(): z.ZodType<Token, string> {
  const written = z.string().meta({ title: 'token', description: 'an alias of the section "tokens"' });
  return written.transform((text, context) => {
    const found = tokens().bySymbol(text);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: `expected ${knownTokens(text)}, got "${text}"` });
    return z.NEVER;
  });
}

/** Returns the schema of a pair, "SOL/USDC": the price is quote tokens for one base token. */
export function pair(): z.ZodType<Pair, string> {
  const written = z.string().meta({ title: 'pair', description: 'base and quote token, "SOL/USDC"' });
  return written.transform((text, context) => {
    const names = text.split('/');
    const [base, quote] = names.map((name) => tokens().bySymbol(name));
    if (names.length === 2 && base !== undefined && quote !== undefined && base.mint !== quote.mint)
      return { base, quote };
    const unknown = names.find((name) => tokens().bySymbol(name) === undefined);
    const expected = names.length !== 2 || unknown === undefined ? 'two different tokens such as "SOL/USDC"'
      : knownTokens(unknown);
    context.addIssue({ code: 'custom', message: `expected ${expected}, got "${text}"` });
    return z.NEVER;
  });
}

/**
 * Returns the schema of an amount with its token, "1.5 SOL" or "1500000000 raw SOL". More places than the token has are
 * refused.
 */
export function amount(): z.ZodType<TokenAmount, string> {
  const written = z.string().meta({ title: 'amount', description: 'a decimal amount and its token, "1.5 SOL"' });
  return written.transform((text, context) => {
    const result = parseTokenAmount(text, tokens());
    if (typeof result !== 'string') return result;
    context.addIssue({ code: 'custom', message: result });
    return z.NEVER;
  });
}

/** Returns the schema of a duration, "10s" or "1h30m", kept as its text. */
export function duration(): z.ZodType<string, string> {
  const written = z.string().meta({ title: 'duration', description: 'a duration, "10s" or "1h30m"' });
  return written.transform((text, context) => {
    try {
      parseDuration(text);
      return text;
    } catch (error) {
      if (!isGannetError(error)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  });
}

/** Returns an amount with its token, or what is wrong with the text. */
export function parseTokenAmount(text: string, known: TokenTable): TokenAmount | string {
  const match = /^(\S+) +(raw +)?(\S+)$/.exec(text.trim());
  if (match === null) return `expected an amount with its token such as "1.5 SOL", got "${text.slice(0, 60)}"`;
  const [, number = '', raw, symbol = ''] = match;
  const found = known.bySymbol(symbol);
  if (found === undefined) return `expected ${knownTokens(symbol, known)}, got "${symbol}"`;
  try {
    return { token: found, amount: raw === undefined ? parseDecimal(number, found.decimals) : parseRaw(number) };
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return `${symbol}: ${error.message}`;
  }
}

function tokens(): TokenTable {
  assert(scope, 'parameters with tokens are read inside withTokens');
  return scope;
}

function knownTokens(word: string, known: TokenTable = tokens()): string {
  const symbols = known.all.map(({ symbol }) => symbol);
  const close = nearest(word, symbols);
  return `one of ${symbols.join(', ')}${close === undefined ? '' : ` (did you mean ${close}?)`}`;
}
