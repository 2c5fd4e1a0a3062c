import type { Amount } from '../core/amount.ts';
import { parseDecimal } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import { nearest, printable } from '../core/text.ts';
import type { Token, TokenTable } from './token.ts';

/** Returns the configured token of an alias or a mint. */
export function configuredToken(text: string, known: TokenTable): Token | undefined {
  return known.bySymbol(text) ?? known.all.find((token) => token.mint === text);
}

/** Returns the error for a name that is not in the configuration. */
export function unknownToken(
  text: string, known: TokenTable, { orMint, cause }: { readonly orMint: boolean; readonly cause?: unknown },
): GannetError {
  const symbols = known.all.map(({ symbol }) => symbol);
  const close = nearest(text, symbols);
  return new GannetError('TOKEN_UNKNOWN',
    `expected ${orMint ? 'a mint address or ' : ''}one of the configured tokens ${symbols.join(', ')}, got `
      + `"${printable(text, 60)}"${close === undefined ? adviceOn(text, orMint) : ` (did you mean ${close}?)`}`,
    { cause });
}

/** Symbols are not unique, so the user must choose a mint. */
function adviceOn(text: string, orMint: boolean): string {
  if (!orMint) return '; to trade it, name its mint under "tokens" in the configuration';
  return /^[A-Za-z0-9.$-]{1,16}$/.test(text) ? `; "gannet tokens ${text}" lists the mints with this symbol` : '';
}

/** Returns an amount of whole tokens in smallest units. Throws AMOUNT_INVALID with the name of the token. */
export function readAmount(text: string, token: Token): Amount {
  try {
    const amount = parseDecimal(text, token.decimals);
    if (amount === 0n) throw new GannetError('AMOUNT_INVALID', 'expected more than 0');
    return amount;
  } catch (cause) {
    throw isGannetError(cause)
      ? new GannetError(cause.code, `amount of ${token.symbol}: ${cause.message}`, { cause }) : cause;
  }
}
