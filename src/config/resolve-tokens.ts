import type { Amount } from '../core/amount.ts';
import { amount, parseDecimal, parseRaw } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import { nearest } from '../core/text.ts';
import type { Mint, Token, TokenTable } from '../market/token.ts';
import { SOL_MINT, USDC_MINT, tokenTable } from '../market/token.ts';
import { parseTokenAmount } from '../strategy/params.ts';
import type { ValueLimit } from '../trading/limits.ts';
import type { ProblemList } from './config-issue.ts';
import { safeText } from './config-issue.ts';
import type { ConfigPath } from './config-tree.ts';

/** Returns the decimals of mint accounts; a mint that does not exist is absent from the answer. */
export type DecimalsLookup = (mints: readonly Mint[]) => Promise<ReadonlyMap<Mint, number>>;

/** Tokens that everybody means the same by: aliases of theirs for another mint are a trap. */
const WELL_KNOWN: readonly Token[] = [
  { symbol: 'SOL', mint: SOL_MINT, decimals: 9 },
  { symbol: 'USDC', mint: USDC_MINT, decimals: 6 },
];

/**
 * For a token whose fault is said already: as many places as SOL, so that its amounts are hardly ever a second fault.
 */
export const GUESSED_DECIMALS = 9;

/**
 * Returns the table of the configured tokens, with SOL and USDC whether listed or not. Decimals come from the mint
 * accounts, never from the file. Every fault is added to `problems`.
 */
export async function resolveTokens(options: {
  readonly entries: Readonly<Record<string, string>>;
  /** Aliases whose entry is faulty, so that what refers to them is no second fault. */
  readonly faulty: readonly string[];
  readonly lookUp: DecimalsLookup;
  /** Returns what is wrong with a mint that does not exist there: that the chain knows none, unless given. */
  readonly absence?: ((mint: Mint) => string) | undefined;
  readonly problems: ProblemList;
}): Promise<TokenTable> {
  const { problems, absence = unknownToChain } = options;
  const mints = new Map<Mint, string>();
  for (const [alias, text] of Object.entries(options.entries)) {
    const mint = text as Mint;
    const path = ['tokens', alias];
    const wellKnown = WELL_KNOWN.find(({ symbol }) => symbol === alias);
    const other = mints.get(mint);
    if (alias === 'raw')
      problems.add(path, '"raw" marks an amount in smallest units: choose another alias', { at: 'key' });
    else if (wellKnown !== undefined && wellKnown.mint !== mint)
      problems.add(path, `expected ${alias} to be ${wellKnown.mint}: give another token an alias of its own`);
    else if (other !== undefined) problems.add(path, `expected each token once, but ${other} is the same mint`);
    else mints.set(mint, alias);
  }
  const decimals = await lookUpDecimals([...mints.keys()], options.lookUp);
  const tokens = [...mints].map(([mint, symbol]): Token => {
    const found = decimals.get(mint);
    if (found === undefined) problems.add(['tokens', symbol], absence(mint));
    return { symbol, mint, decimals: found ?? GUESSED_DECIMALS };
  });
  for (const alias of options.faulty)
    tokens.push({ symbol: alias, mint: `faulty:${alias}` as Mint, decimals: GUESSED_DECIMALS });
  for (const known of WELL_KNOWN) {
    if (!tokens.some(({ symbol, mint }) => symbol === known.symbol || mint === known.mint)) tokens.push(known);
  }
  return tokenTable(tokens);
}

function unknownToChain(mint: Mint): string {
  return `expected the address of a token, but the chain knows no such mint: ${mint}`;
}

async function lookUpDecimals(mints: readonly Mint[], lookUp: DecimalsLookup): Promise<ReadonlyMap<Mint, number>> {
  const known = new Map(WELL_KNOWN.map(({ mint, decimals }) => [mint, decimals]));
  const unknown = mints.filter((mint) => !known.has(mint));
  return unknown.length === 0 ? known : new Map([...known, ...await lookUp(unknown)]);
}

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
      `unknown token "${safeText(alias, 60)}"${close === undefined ? '' : ` (did you mean "${close}"?)`}; known `
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
