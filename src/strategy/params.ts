import { z } from 'zod';
import { parseDecimal, parseRaw } from '../core/amount.ts';
import { assert } from '../core/assert.ts';
import { isGannetError } from '../core/errors.ts';
import { nearest } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { Pair, Token, TokenAmount, TokenTable } from '../market/token.ts';
import { hasMintForm } from '../market/token.ts';

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

/** Returns the schema of the address of a wallet or an account, base58. */
export function address(): z.ZodType<string, string> {
  return z.string().refine(hasMintForm, 'expected an address in base58')
    .meta({ title: 'address', description: 'an address in base58' });
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

/** Returns the schema of an instant in UTC, "2027-03-01T12:00:00Z", read as milliseconds since the epoch. */
export function instant(): z.ZodType<Millis, string> {
  return z.iso.datetime({ error: 'expected a time in UTC such as "2027-03-01T12:00:00Z"' })
    .meta({ description: 'a time in UTC, "2027-03-01T12:00:00Z"' })
    .transform((text) => {
      const [year, month, day, hours, minutes, seconds = 0] = text.split(/[-T:Z]/).map(Number);
      return daysSinceEpoch(year!, month!, day!) * DAY_MS + (hours! * 3_600 + minutes! * 60 + seconds) * 1_000;
    });
}

const DAY_MS: Millis = 86_400_000;
/** The days of 400 years, after which the Gregorian calendar repeats, and those from the year 0 to the epoch. */
const [CYCLE_DAYS, EPOCH_DAYS] = [146_097, 719_468];

/** Returns the days from the epoch to a date. Years begin in March here, so that the leap day is the last one. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const from = month > 2 ? year : year - 1;
  const cycle = Math.floor(from / 400);
  const inCycle = from - cycle * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const days = inCycle * 365 + Math.floor(inCycle / 4) - Math.floor(inCycle / 100) + dayOfYear;
  return cycle * CYCLE_DAYS + days - EPOCH_DAYS;
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
