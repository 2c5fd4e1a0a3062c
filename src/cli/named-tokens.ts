import { GannetError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { printable } from '../core/text.ts';
import type { World } from '../daemon/world.ts';
import type { Mint, Token, TokenTable } from '../market/token.ts';
import { mint } from '../market/token.ts';
import { shortened } from './figures.ts';

/** What a command calls the tokens in its answer. */
export interface TokenNames {
  /** Returns a short name: the configuration's alias, or the mint's ends. */
  symbol(address: string): string;
  /** Returns the name with the mint, and what the service calls a token that the configuration does not name. */
  full(address: string): string;
}

/** Returns the token that a configured alias or a mint address means. Symbols of the service are no names: they are not unique. */
export async function findToken(text: string, known: TokenTable, world: World): Promise<Token> {
  const configured = configuredToken(text, known);
  if (configured !== undefined) return configured;
  const address = asMint(text, known);
  const decimals = (await world.decimalsOf([address])).get(address);
  if (decimals === undefined) throw new GannetError('TOKEN_UNKNOWN', `the service knows no token ${address}`);
  return { mint: address, symbol: shortened(address), decimals };
}

/** Returns the token of the configuration that an alias or a mint means. */
export function configuredToken(text: string, known: TokenTable): Token | undefined {
  return known.bySymbol(text) ?? known.all.find((token) => token.mint === text);
}

/** Returns names for mints. Those that the configuration does not name are asked for, and what comes back is only a claim: it is shown in quotes. */
export async function nameTokens(mints: Iterable<string>, known: TokenTable, world: World): Promise<TokenNames> {
  const strangers = [...new Set(mints)].filter((address) => known.byMint(address as Mint) === undefined);
  const claims = new Map<string, string>();
  if (strangers.length > 0) {
    const { records } = await world.service.tokens.search(strangers, { priority: 'watch' });
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

/** Symbols are not unique: whoever has one has to look for the mint. */
function adviceOn(text: string, orMint: boolean): string {
  if (!orMint) return '; name its mint under "tokens" in the configuration to trade it';
  return /^[A-Za-z0-9.$-]{1,16}$/.test(text) ? `; "gannet tokens ${text}" lists the mints that call themselves so` : '';
}

/** Returns the fault of a name that the configuration does not have. */
export function unknownToken(text: string, known: TokenTable, { orMint, cause }: { readonly orMint: boolean; readonly cause?: unknown }): GannetError {
  const symbols = known.all.map(({ symbol }) => symbol);
  const close = nearest(text, symbols);
  return new GannetError('TOKEN_UNKNOWN',
    `expected ${orMint ? 'a mint address or ' : ''}one of the configured tokens ${symbols.join(', ')}, got "${printable(text, 60)}"${close === undefined ? adviceOn(text, orMint) : ` (did you mean ${close}?)`}`, { cause });
}
