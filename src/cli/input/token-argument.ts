import { shortened } from '../output/figures.ts';
import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Connections } from '../../daemon/run/connections.ts';
import { configuredToken, unknownToken } from '../../market/named-token.ts';
import type { Mint, Token, TokenTable } from '../../market/token.ts';
import { mint } from '../../market/token.ts';

/** The names that a command prints for tokens. */
export interface TokenNames {
  /** Returns a short name: the configuration's alias, or both ends of the mint. */
  symbol(address: string): string;
  /** Returns the name with the mint. A token that the configuration does not name has the service's name, in quotes. */
  full(address: string): string;
}

/**
 * Returns the token of a configured alias or a mint address. The service's symbols are not accepted, because they are
 * not unique.
 */
export async function findToken(text: string, known: TokenTable, connections: Connections): Promise<Token> {
  const configured = configuredToken(text, known);
  if (configured !== undefined) return configured;
  const address = asMint(text, known);
  const decimals = (await connections.decimalsOf([address])).get(address);
  if (decimals === undefined) throw new GannetError('TOKEN_UNKNOWN', `the service knows no token ${address}`);
  return { mint: address, symbol: shortened(address), decimals };
}

/**
 * Returns names for mints. The service is asked for those that the configuration does not name; its answer is only a
 * claim, so it is shown in quotes.
 */
export async function nameTokens(
  mints: Iterable<string>, known: TokenTable, connections: Connections,
): Promise<TokenNames> {
  const strangers = [...new Set(mints)].filter((address) => known.byMint(address as Mint) === undefined);
  const claims = new Map<string, string>();
  if (strangers.length > 0) {
    const { records } = await connections.service.tokens.search(strangers, { priority: 'watch' });
    for (const { id, symbol } of records) claims.set(id, `"${printable(symbol, 16)}"`);
  }
  const symbol = (address: string): string => known.byMint(address as Mint)?.symbol ?? shortened(address);
  return {
    symbol,
    full(address) {
      const claim = claims.get(address);
      const name = known.byMint(address as Mint)?.symbol ?? claim;
      return name === undefined ? address : `${name}  ${address}`;
    },
  };
}

function asMint(text: string, known: TokenTable): Mint {
  try {
    return mint(text);
  } catch (cause) {
    throw unknownToken(text, known, { orMint: true, cause });
  }
}
