import type { GannetError } from '../core/errors.ts';

/** Extensions follow the length of a token account and the byte that says what the account is. */
const EXTENSIONS_START = 166;
const ENTRY_HEADER_BYTES = 4;

/** One extension of Token-2022: the token program's number of its kind, and what it holds. */
export interface TokenExtension {
  readonly kind: number;
  readonly value: Buffer;
}

/** Returns the extensions of a mint or a token account of Token-2022; none where it has none. Throws what `fault` makes of a problem. */
export function readTokenExtensions(data: Buffer, fault: (problem: string) => GannetError): TokenExtension[] {
  const extensions: TokenExtension[] = [];
  let at = EXTENSIONS_START;
  while (at + 2 <= data.length) {
    const kind = data.readUInt16LE(at);
    // What is not used of an account is zeros.
    if (kind === 0) {
      if (data.subarray(at).some((byte) => byte !== 0)) throw fault('its extensions end before its bytes do');
      return extensions;
    }
    const start = at + ENTRY_HEADER_BYTES;
    const end = start + (start <= data.length ? data.readUInt16LE(at + 2) : Infinity);
    if (end > data.length) throw fault('its last extension is cut short');
    extensions.push({ kind, value: data.subarray(start, end) });
    at = end;
  }
  return extensions;
}
