import { InvalidArgumentError } from 'commander';
import { GannetError, isGannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Pair, Token, TokenAmount, TokenTable } from '../../market/token.ts';
import { mint, SOL_MINT, tokenTable, USDC_MINT } from '../../market/token.ts';
import { parseTokenAmount } from '../../strategy/params.ts';

/** Tokens that need no flag. A recording is read without a service, so other tokens must be named. */
const KNOWN: readonly Token[] =
  [{ mint: SOL_MINT, symbol: 'SOL', decimals: 9 }, { mint: USDC_MINT, symbol: 'USDC', decimals: 6 }];

/** Returns the tokens of the command line, with SOL and USDC. Throws USAGE when two share a symbol or a mint. */
export function namedTokens(named: readonly Token[]): TokenTable {
  const all = withKnown(named);
  const twice = all.find((token, index) =>
    all.findIndex(({ mint: own, symbol }) => own === token.mint || symbol === token.symbol) !== index);
  if (twice !== undefined) throw new GannetError('USAGE', `--token names ${twice.symbol} (${twice.mint}) twice`);
  return tokenTable(all);
}

/** Returns tokens after SOL and USDC, unless the tokens already have their mint or symbol. */
export function withKnown(named: readonly Token[]): readonly Token[] {
  return [
    ...KNOWN.filter((known) => !named.some(({ mint: own, symbol }) => own === known.mint || symbol === known.symbol)),
    ...named,
  ];
}

/** Reads `SYMBOL=MINT:DECIMALS`, and adds it to the tokens read before. */
export function tokenFlag(text: string, before: readonly Token[] = []): readonly Token[] {
  const [, symbol, address, decimals] = /^([^\s=/]{1,20})=([^:]+):(\d{1,3})$/.exec(text) ?? [];
  if (symbol === undefined || Number(decimals) > 255) throw new InvalidArgumentError(
    'expected SYMBOL=MINT:DECIMALS such as "SOL=So11111111111111111111111111111111111111112:9".',
  );
  try {
    return [...before, { symbol, mint: mint(address!), decimals: Number(decimals) }];
  } catch (error) {
    throw new InvalidArgumentError(isGannetError(error) ? error.message : 'expected a mint.');
  }
}

/** Returns the pair that "SOL/USDC" names. Throws USAGE. */
export function pairOf(text: string, tokenOf: (symbol: string) => Token | undefined): Pair {
  const symbols = text.split('/');
  const [base, quote] = symbols.map(tokenOf);
  if (symbols.length === 2 && base !== undefined && quote !== undefined && base.mint !== quote.mint)
    return { base, quote };
  throw new GannetError('USAGE', 'expected a pair of two known tokens such as "SOL/USDC", got '
    + `"${printable(text, 60)}"; --token SYMBOL=MINT:DECIMALS makes one known`);
}

/** Returns an amount such as "100 USDC", in a token of the pair. Throws USAGE. */
export function sizeOf(text: string, { base, quote }: Pair): TokenAmount {
  const size = parseTokenAmount(text, tokenTable([base, quote]));
  if (typeof size === 'string') throw new GannetError('USAGE', `--size: ${size}`);
  if (size.amount <= 0n)
    throw new GannetError('USAGE', `--size: expected an amount above 0, got "${printable(text, 60)}"`);
  return size;
}
